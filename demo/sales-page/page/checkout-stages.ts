import { reference, startAnotherButton } from './endings.ts'
import { button, choice, day, facts, h, list, pounds } from './elements.ts'
import type { Application, BeforeYouBuy, Policy, Quote } from './records.ts'
import { Incomplete } from './screen.ts'
import { changeStage, type MakeScreen, type Visit } from './visit.ts'

/** A benefit that replaces earnings is paid by the month. */
const paidOut = ({ cover_amount_pence, components }: Quote): string => {
  const [first] = components
  return first && first.monthly_benefit_pence !== null
    ? `${pounds(first.monthly_benefit_pence)} a month`
    : pounds(cover_amount_pence ?? 0)
}

export const quote: MakeScreen = async (visit, { title, cta_label, config }) => {
  const { api, application, shareToken } = visit
  const made = await api.send<Quote>('POST', `/applications/${application.id}/quotes`, { body: {}, shareToken })
  const { label } = config as { readonly label?: string }
  return {
    title,
    body: [
      h('p', {}, label ?? 'Your monthly price'),
      h('div', { class: 'amount' }, h('p', { class: 'price' }, pounds(made.premium_pence)), h('p', {}, 'a month')),
      h('p', { class: 'quiet' }, `This price holds until ${day(made.expires_at)}.`),
      facts([
        ...(made.cover_amount_pence === null ? [] : [['We pay out', paidOut(made)] as const]),
        ...(made.term_years === null ? [] : [['For', `${made.term_years} years`] as const]),
        ...(made.policy_fee_pence === 0 ? [] : [['Policy fee', `${pounds(made.policy_fee_pence)}, included`] as const]),
        ...made.loadings.map((loading) => ['Included', loading.label] as const),
      ]),
      h(
        'div',
        { class: 'choices' },
        button('Change my cover', () => changeStage(visit, 'cover_capture')),
      ),
    ],
    submit: {
      label: cta_label ?? 'Continue',
      send: async () => {
        const accepted = await api.send<Application>('POST', `/applications/${application.id}/accept_quote`, {
          body: { quote_id: made.id },
          shareToken,
        })
        visit.next({ application: accepted, quoteId: made.id })
      },
    },
  }
}

const documents = (
  { api, shareToken }: Visit,
  given: readonly { readonly name: string; readonly url: string }[],
): HTMLElement =>
  h(
    'ul',
    {},
    ...given.map(({ name, url }) => {
      const open = async () => {
        // The tab is opened at once: a browser blocks one that is opened later.
        const tab = window.open('', '_blank')
        const address = await api.file(url, shareToken)
        if (tab) tab.location.href = address
      }
      const click = (event: Event) => {
        event.preventDefault()
        void open().catch(() => undefined)
      }
      return h('li', {}, h('a', { href: url, onclick: click }, name))
    }),
  )

export const beforeYouBuy: MakeScreen = async (visit, { title, cta_label, config }) => {
  const { api, shareToken, quoteId = '' } = visit
  const seen = await api.send<BeforeYouBuy>('GET', `/quotes/${quoteId}/before_you_buy`, { shareToken })
  if (!seen.sellable) return { title: 'Please speak to us', body: [h('p', {}, 'This cover cannot be bought online.')] }
  if (!seen.show) return undefined
  const { heading } = config as { readonly heading?: string | null }
  const { demands_and_needs, key_documents, cancellation, confirmation } = seen
  return {
    title: heading ?? title,
    body: [
      demands_and_needs !== null && h('div', {}, h('h2', {}, 'What you need'), h('p', {}, demands_and_needs)),
      key_documents.length > 0 && h('div', {}, h('h2', {}, 'Documents to read'), documents(visit, key_documents)),
      cancellation !== null && h('div', {}, h('h2', {}, 'If you change your mind'), h('p', {}, cancellation.statement)),
      confirmation !== null && h('div', {}, h('h2', {}, confirmation.intro), list(confirmation.points)),
      choice(
        { name: 'confirmed', label: confirmation?.question ?? 'Have you read all this?' },
        [{ value: 'yes', label: 'Yes' }],
        { type: 'checkbox' },
      ),
    ],
    submit: {
      label: cta_label ?? 'Confirm',
      send: async (given) => {
        if (given.get('confirmed') === null) throw new Incomplete({ confirmed: 'tick the box to go on' })
        await api.send('POST', `/quotes/${quoteId}/confirm`, { body: {}, shareToken })
        visit.next()
      },
    },
  }
}

const documentsLooks = 20
const documentsEveryMs = 500

/** They are made a moment after the sale. */
const policyDocuments = (visit: Visit, { id }: Policy): HTMLElement => {
  const { api, shareToken } = visit
  const shown = h('div', { role: 'status' })
  const look = async (left: number): Promise<void> => {
    const { documents: issued } = await api.send<Policy>('GET', `/policies/${id}`, { shareToken })
    if (issued.length > 0) shown.replaceChildren(h('h2', {}, 'Your documents'), documents(visit, issued))
    else if (left > 0) setTimeout(() => void look(left - 1).catch(() => undefined), documentsEveryMs)
  }
  void look(documentsLooks).catch(() => undefined)
  return shown
}

export const confirmation: MakeScreen = (visit, { title, config }) => {
  const { policy } = visit
  const {
    heading,
    body,
    next_steps = [],
  } = config as {
    readonly heading?: string
    readonly body?: string
    readonly next_steps?: readonly string[]
  }
  if (!policy) return undefined
  const thanks = [heading, body].filter((part) => part !== undefined).join('. ')
  return {
    title,
    body: [
      thanks !== '' && h('p', {}, thanks),
      h('p', {}, 'Your policy number'),
      h('p', { class: 'price number', id: 'policy-number' }, policy.policy_number),
      facts([
        ['Covered from', day(policy.start_date)],
        ['Price', `${pounds(policy.premium_pence)} a month`],
        ['First collection', day(policy.first_collection_on)],
        ...(policy.cooling_off_ends_on === null
          ? []
          : [['Full refund if you cancel by', day(policy.cooling_off_ends_on)] as const]),
      ]),
      policyDocuments(visit, policy),
      next_steps.length > 0 && h('div', {}, h('h2', {}, 'What to do next'), list(next_steps)),
      startAnotherButton(visit),
    ],
  }
}

export const handoff: MakeScreen = (visit, { title, config }) => {
  const { heading, body, phone } = config as {
    readonly heading?: string
    readonly body?: string
    readonly phone?: string | null
  }
  const { application } = visit
  const chosen = application.market_quotes?.results.find(({ selected }) => selected)
  return {
    title: heading ?? title,
    body: [
      h('p', {}, body ?? 'Our team goes on with you from here.'),
      chosen &&
        facts([
          ['Provider', chosen.provider_name],
          ['Cover', chosen.product_name],
          ['Price', `${pounds(chosen.premium_pence)} a month`],
        ]),
      reference(application),
      typeof phone === 'string' &&
        h('p', { class: 'price number' }, h('a', { href: `tel:${phone.replaceAll(' ', '')}` }, phone)),
      startAnotherButton(visit),
    ],
  }
}
