import { dateField } from './date-field.ts'
import { button, choice, day, fillIn, h, input, labelled, select } from './elements.ts'
import type { Address, Customer } from './records.ts'
import { Incomplete } from './screen.ts'
import { allIn, patch, requireAll, textIn, type MakeScreen, type Visit } from './visit.ts'

/** The API's names for the fields of a details stage, and how a browser fills them in by itself. */
const details: Readonly<
  Record<string, { name: keyof Customer; label: string; autocomplete: string; type?: string; className?: string }>
> = {
  first_name: { name: 'first_name', label: 'First name', autocomplete: 'given-name' },
  last_name: { name: 'last_name', label: 'Last name', autocomplete: 'family-name' },
  dob: { name: 'dob', label: 'Date of birth', autocomplete: 'bday', type: 'date' },
  email: { name: 'email', label: 'Email address', autocomplete: 'email', type: 'email' },
  phone: { name: 'phone_number', label: 'Telephone number', autocomplete: 'tel', type: 'tel', className: 'short' },
  postcode: { name: 'postal_code', label: 'Postcode', autocomplete: 'postal-code', className: 'short' },
}

type DetailsConfig = {
  readonly fields?: readonly string[]
  readonly required_fields?: readonly string[]
  readonly address_lookup?: boolean
  readonly intro?: string | null
  readonly consent_opt_outs?: readonly { readonly key: string; readonly label: string }[]
  readonly marketing_question?: { readonly label: string; readonly channels: readonly string[] } | null
}

export const detailFields = (
  { fields = [], required_fields = [] }: Pick<DetailsConfig, 'fields' | 'required_fields'>,
  customer: Customer | null,
  { isVisitor = true } = {},
): readonly HTMLElement[] =>
  fields.flatMap((field) => {
    const detail = details[field]
    if (!detail) return []
    // A browser fills in what it knows of the visitor, who is not the second person.
    const autocomplete = isVisitor ? detail.autocomplete : 'off'
    const label = labelled(detail.label, required_fields.includes(field))
    const shown = { ...detail, label, autocomplete, value: customer?.[detail.name] ?? '' }
    return [detail.type === 'date' ? dateField(shown) : input(shown)]
  })

const addressNames = ['postal_code', 'address_line1', 'city'] as const

/** The API's names for the fields of a stage. */
export const namesOf = (fields: readonly string[]): readonly string[] =>
  fields.flatMap((field) => (field === 'address' ? addressNames : (details[field]?.name ?? [])))

/** The details of somebody, as they are checked before a price is made. */
export const detailsOf = ({ fields = [], required_fields = [] }: DetailsConfig, customer: Customer | null) =>
  fields.flatMap((field) => {
    const isRequired = required_fields.includes(field)
    if (field === 'address') {
      const lines = [customer?.address_line1, customer?.city, customer?.postal_code].filter(Boolean)
      const answer = lines.length === 0 ? undefined : lines.join(', ')
      return [{ name: addressNames[0], label: 'Address', answer, isRequired }]
    }
    const detail = details[field]
    if (!detail) return []
    const held = customer?.[detail.name] ?? undefined
    const answer = held !== undefined && detail.type === 'date' ? day(held) : held
    return [{ name: detail.name, label: detail.label, answer, isRequired }]
  })

/** A flat and its house are two lines. */
const streetOf = ({ address_line1, address_line2 }: Address): string =>
  [address_line1, address_line2].filter((line) => line !== '').join(', ')

const addressFields = (
  { api, shareToken, application }: Visit,
  canLookUp: boolean,
  isRequired: boolean,
): readonly HTMLElement[] => {
  const { customer } = application
  const postcode = input({
    name: 'postal_code',
    label: labelled('Postcode', isRequired),
    autocomplete: 'postal-code',
    className: 'short',
    value: customer?.postal_code ?? '',
  })
  const line = input({
    name: 'address_line1',
    label: labelled('House and street', isRequired),
    autocomplete: 'address-line1',
    value: customer?.address_line1 ?? '',
  })
  const town = input({
    name: 'city',
    label: labelled('Town', isRequired),
    autocomplete: 'address-level2',
    value: customer?.city ?? '',
  })
  const found = h('div', { role: 'status' })
  const lookUp = async () => {
    const sought = postcode.querySelector('input')?.value.trim() ?? ''
    if (sought === '') return
    const query = new URLSearchParams({ postcode: sought, application_id: application.id })
    const { addresses } = await api.send<{ addresses: readonly Address[] }>('GET', `/addresses/lookup?${query}`, {
      shareToken,
    })
    found.replaceChildren(
      addresses.length === 0
        ? h('p', { class: 'hint' }, 'We know no address at this postcode. Please type yours.')
        : select({ name: 'found_address', label: 'Choose your address' }, [
            { value: '', label: `${addresses.length} addresses` },
            ...addresses.map((each, index) => ({ value: String(index), label: `${streetOf(each)}, ${each.city}` })),
          ]),
    )
    found.querySelector('select')?.addEventListener('change', (event) => {
      const chosen = addresses[Number((event.target as HTMLSelectElement).value)]
      if (!chosen) return
      fillIn(line, streetOf(chosen))
      fillIn(town, chosen.city)
      fillIn(postcode, chosen.postal_code)
    })
  }
  if (canLookUp) {
    postcode.classList.add('beside')
    postcode.append(button('Find address', () => void lookUp().catch(() => undefined)))
  }
  return [postcode, found, line, town]
}

export const customerOf = (given: FormData): Readonly<Record<string, string>> => {
  const names = [...Object.values(details).map(({ name }) => name), 'address_line1', 'city']
  return Object.fromEntries(names.flatMap((name) => (textIn(given, name) === '' ? [] : [[name, textIn(given, name)]])))
}

const phoneReasons: Readonly<Record<string, string>> = {
  format_invalid: 'enter a telephone number',
  too_short: 'has too few digits',
  too_long: 'has too many digits',
  invalid_number: 'is not a number that is in use',
  drama_number: 'is not a number that anybody has',
}

/** Checks first that a number can be called: an application also takes numbers that nobody answers. */
const refuseUnusablePhone = async ({ api, application, shareToken }: Visit, phone: string): Promise<void> => {
  if (phone === '') return
  const query = new URLSearchParams({ phone, application_id: application.id })
  type Check = { readonly valid: boolean; readonly reason?: string }
  const { valid, reason = '' } = await api.send<Check>('GET', `/customers/validate_phone?${query}`, { shareToken })
  if (!valid) throw new Incomplete({ phone_number: phoneReasons[reason] ?? 'cannot be called' })
}

export const personalDetails: MakeScreen = (visit, { title, cta_label, consent_notice, config }) => {
  const {
    fields = [],
    required_fields = [],
    address_lookup,
    consent_opt_outs = [],
    marketing_question,
  } = config as DetailsConfig
  return {
    title,
    body: [
      ...detailFields({ fields, required_fields }, visit.application.customer),
      ...(fields.includes('address')
        ? addressFields(visit, address_lookup === true, required_fields.includes('address'))
        : []),
      consent_notice !== undefined && h('p', { class: 'quiet' }, consent_notice),
      consent_opt_outs.length > 0 &&
        choice(
          { name: 'opt_outs', label: 'Offers' },
          consent_opt_outs.map(({ key, label }) => ({ value: key, label })),
          { type: 'checkbox' },
        ),
      marketing_question &&
        choice({ name: 'marketing', label: labelled(marketing_question.label, false) }, [
          { value: 'yes', label: 'Yes' },
          { value: 'no', label: 'No' },
        ]),
    ],
    submit: {
      label: cta_label ?? 'Next',
      send: async (given) => {
        requireAll(given, namesOf(required_fields))
        await refuseUnusablePhone(visit, textIn(given, 'phone_number'))
        const marketing = given.get('marketing')
        const application = await patch(visit, '/customer', {
          customer: customerOf(given),
          // Where there are boxes, none ticked is an answer too.
          ...(consent_opt_outs.length > 0 && {
            consent_answers: Object.fromEntries(allIn(given, 'opt_outs').map((key) => [key, false])),
          }),
          ...(marketing_question &&
            marketing !== null && {
              marketing_answers: Object.fromEntries(
                marketing_question.channels.map((channel) => [channel, marketing === 'yes']),
              ),
            }),
        })
        visit.next({ application })
      },
    },
  }
}

export const softIdentity: MakeScreen = (visit, { title, cta_label, config }) => {
  const { fields = [], required_fields = [], intro } = config as DetailsConfig
  return {
    title,
    body: [typeof intro === 'string' && h('p', {}, intro), ...detailFields({ fields, required_fields }, null)],
    submit: {
      label: cta_label ?? 'Next',
      send: async (given) => {
        requireAll(given, namesOf(required_fields))
        visit.next({ application: await patch(visit, '/soft_customer', { customer: customerOf(given) }) })
      },
    },
  }
}
