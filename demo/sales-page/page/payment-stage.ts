import { Refused } from './api.ts'
import { h, input, ordinal, pounds, select } from './elements.ts'
import { cardForm, mandateForm, payOnProvidersForm, setUpOnProvidersForm } from './provider-form.ts'
import type { OpenedPayment, OpenedSession, Policy, Quote } from './records.ts'
import { Incomplete } from './screen.ts'
import { requireAll, textIn, type Made, type MakeScreen, type Visit } from './visit.ts'

const guarantee = `Payments are protected by the Direct Debit Guarantee: if there is a mistake in a payment, your bank refunds it
 at once, and you can cancel at any time by telling your bank.`

/** The visitor's way to give the account from which the premiums are collected. */
type DirectDebit = {
  readonly names: readonly string[]
  readonly fields: readonly HTMLElement[]
  readonly setUp: (given: FormData) => Promise<void>
}

const bankNames = ['account_holder_name', 'sort_code', 'account_number']

const bankFields = (): readonly HTMLElement[] => [
  input({ name: 'account_holder_name', label: 'Name on the account', autocomplete: 'name' }),
  input({
    name: 'sort_code',
    label: 'Sort code',
    hint: 'Six digits, for example 08-99-99.',
    inputmode: 'numeric',
    className: 'short',
  }),
  input({
    name: 'account_number',
    label: 'Account number',
    hint: 'Eight digits.',
    inputmode: 'numeric',
    className: 'short',
  }),
]

/** On this page: the details are sent to the service. */
const onThisPage = ({ api, shareToken, quoteId = '' }: Visit): DirectDebit => ({
  names: bankNames,
  fields: bankFields(),
  setUp: async (given) => {
    const direct_debit = Object.fromEntries(bankNames.map((name) => [name, textIn(given, name)]))
    await api.send('POST', `/quotes/${quoteId}/direct_debit_details`, { body: { direct_debit }, shareToken })
  },
})

/** On the provider's own form: the service asks the provider itself whether the mandate is set up. */
const onProvidersForm = ({ api, shareToken, quoteId = '' }: Visit): DirectDebit => {
  const { names, element } = mandateForm()
  let setUpFor = ''
  return {
    names,
    fields: [element],
    setUp: async (given) => {
      const account = names.map((name) => textIn(given, name)).join(' ')
      // After a declined card, the mandate stands.
      if (account === setUpFor) return
      const opened = await api.send<OpenedSession>('POST', `/quotes/${quoteId}/bacs_setup_intent`, { shareToken })
      const refused = await setUpOnProvidersForm(opened, given)
      if (Object.keys(refused).length > 0) throw new Incomplete(refused)
      const body = { session_id: opened.session.id }
      await api.send('POST', `/quotes/${quoteId}/bacs_mandate`, { body, shareToken })
      setUpFor = account
    },
  }
}

/** A Direct Debit for the monthly premiums; where the product wants it so, the first premium by card; and the sale. */
export const payment: MakeScreen = async (visit, { title, cta_label, config }): Promise<Made> => {
  const { api, application, shareToken, quoteId = '' } = visit
  const { collection_days, show_guarantee = true } = config as {
    readonly collection_days?: readonly number[] | null
    readonly show_guarantee?: boolean
  }
  const { premium_pence } = await api.send<Quote>('GET', `/quotes/${quoteId}`, { shareToken })
  const price = pounds(premium_pence)
  const card = application.direct_debit_first ? undefined : cardForm()
  const debit = application.inline_bacs_mandate ? onProvidersForm(visit) : onThisPage(visit)
  return {
    title,
    body: [
      h('p', {}, card ? `You pay the first ${price} by card now.` : `You pay ${price} a month by Direct Debit.`),
      card?.element,
      card && h('p', {}, `After that, you pay ${price} a month by Direct Debit.`),
      ...debit.fields,
      collection_days
        ? select(
            { name: 'collection_day', label: 'On which day of the month may we collect?' },
            collection_days.map((each) => ({ value: String(each), label: `The ${ordinal(each)}` })),
          )
        : undefined,
      show_guarantee && h('p', { class: 'quiet' }, guarantee),
    ],
    submit: {
      label: cta_label ?? 'Buy this cover',
      send: async (given) => {
        requireAll(given, [...(card?.names ?? []), ...debit.names])
        // First what can be corrected: a card is charged when all else is right.
        await debit.setUp(given)
        if (card) await payByCard(visit, given)
        const collection_day = given.get('collection_day')
        // Sent again after a lost answer, it answers the same policy.
        const policy = await api.send<Policy>('POST', `/quotes/${quoteId}/bind`, {
          body: collection_day === null ? {} : { collection_day: Number(collection_day) },
          shareToken,
        })
        visit.next({ policy })
      },
    },
  }
}

const looks = 10
const everyMs = 1_000

/** The service asks the provider itself whether the card was charged: the page only names the payment. */
const payByCard = async ({ api, shareToken, quoteId = '' }: Visit, given: FormData): Promise<void> => {
  const opened = await api.send<OpenedPayment>('POST', `/quotes/${quoteId}/payment_intent`, { body: {}, shareToken })
  const { id: payment_intent_id } = opened.payment_intent
  const refused = await payOnProvidersForm(opened, given)
  const isRefused = Object.keys(refused).length > 0
  for (let left = looks; ; left--)
    try {
      await api.send('POST', `/quotes/${quoteId}/card_payment`, { body: { payment_intent_id }, shareToken })
      return
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const isPending = error.code === 'payment_pending' && !isRefused
      if (!isPending && error.code.startsWith('payment_'))
        throw new Incomplete(isRefused ? refused : { card_number: error.message })
      if (!isPending || left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
}
