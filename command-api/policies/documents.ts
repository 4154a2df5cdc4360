import { withoutAddress } from '#domain/address-in-text.ts'
import type { Release } from '#domain/catalogue/events.ts'
import { money } from '#domain/money.ts'
import type { PolicyComponent, PolicyRecord } from '#domain/policies/record.ts'
import type { PolicyDocumentKind } from '#domain/policies/events.ts'
import type { FirmContact } from '#domain/policy-rules/events.ts'
import type { SealedFiles } from '#infra/crypto/sealed-files.ts'
import { derivedId } from '#infra/ids.ts'
import { renderPdf, type PdfBlock, type PdfContent } from '#infra/pdf/render.ts'

type About = {
  readonly policy: PolicyRecord
  readonly release: Release
  readonly firm: string
  /** The day on which the terms became what they are, where that is not the day of the sale. */
  readonly changed_at?: string
}

/** Renders a document and keeps it; the same version of it is kept once. */
export const keptDocument =
  (files: SealedFiles, { organisation_id, id, customer }: PolicyRecord, version: string) =>
  async (kind: PolicyDocumentKind, content: PdfContent) => {
    const version_id = derivedId('policy_document_version', id, kind, version)
    const kept = await files.keep({
      organisation_id,
      id: version_id,
      person: customer.id,
      stream: `policy-${id}`,
      media_type: 'application/pdf',
      content: await renderPdf(content),
    })
    return { kind, document_id: derivedId('policy_document', id, kind), version_id, ...kept, key_document: null }
  }

const longDates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
const longDate = (date: string): string => longDates.format(new Date(date))

const nameOf = ({ title, first_name, last_name }: PolicyRecord['customer']): string =>
  [title, first_name, last_name]
    .map(withoutAddress)
    .filter((part) => part !== null)
    .join(' ')

const addressOf = ({ address_line1, address_line2, city, postal_code }: PolicyRecord['customer']): string =>
  [address_line1, address_line2, city, postal_code]
    .map(withoutAddress)
    .filter((part) => part !== null)
    .join(', ')

const covers: Readonly<Record<PolicyComponent['cover_type'], string>> = {
  life: 'Life cover',
  critical_illness: 'Critical illness cover',
  income_protection: 'Income protection',
  accidental_death: 'Accidental death cover',
  child_benefit: 'Children’s benefit',
  healthcare: 'Healthcare',
}

/** The schedule of the cover bought: the contract refers to it. */
export const policySchedule = ({ policy, release, firm, changed_at }: About): PdfContent => {
  const { customer, joint_customer, currency_code: currency } = policy
  const covered = policy.components.filter(({ status }) => status !== 'ended')
  const fee_pence = covered.reduce((rest, { premium_pence }) => rest - premium_pence, policy.premium_pence)
  return {
    title: 'Policy schedule',
    author: firm,
    created_at: changed_at ?? policy.created_at,
    blocks: [
      {
        kind: 'facts',
        facts: [
          ['Policy number', policy.policy_number],
          ...(changed_at === undefined ? [] : [['Changed on', longDate(changed_at)] as const]),
          ['Product', release.name],
          ['Policyholder', nameOf(customer)],
          ['Address', addressOf(customer)],
          ...(customer.dob === null ? [] : [['Date of birth', longDate(customer.dob)] as const]),
          ...(joint_customer ? [['Second person covered', nameOf(joint_customer)] as const] : []),
          ['Cover starts on', longDate(policy.start_date)],
          ['Cover ends on', policy.end_date === null ? 'No fixed end' : longDate(policy.end_date)],
        ],
      },
      ...covered.flatMap((component) => componentBlocks(component, policy)),
      { kind: 'heading', text: 'What you pay' },
      {
        kind: 'facts',
        facts: [
          ['Premium', `${money(policy.premium_pence, currency)} a month`],
          ...(fee_pence > 0 ? [['Of it, the policy fee', `${money(fee_pence, currency)} a month`] as const] : []),
          ['In a year', money(policy.annual_premium_pence, currency)],
          ['Collected by Direct Debit', `on day ${policy.collection_day} of the month, or on the next working day`],
          ...collectionOf(policy, changed_at !== undefined),
          ['Account', `ending ${policy.payment_method.account_number_last4 ?? '––––'}`],
        ],
      },
      ...listed('What is covered', release.inclusions),
      ...listed('What is not covered', release.exclusions),
    ],
  }
}

type Facts = readonly (readonly [string, string])[]

/** A schedule that follows a change says when it is collected next: the first collection may be long past. */
const collectionOf = ({ first_collection_on, next_collection_on }: PolicyRecord, isChanged: boolean): Facts => {
  if (!isChanged) return [['First collection', longDate(first_collection_on)]]
  return next_collection_on === null ? [] : [['Next collection', longDate(next_collection_on)]]
}

/** Changes of the benefit and its premium in later years. */
const laterYears = (component: PolicyComponent, { next_indexation_on, next_review_on }: PolicyRecord): Facts => {
  const { indexation_method, premium_basis, review_period_years } = component
  const from = next_indexation_on === null ? '' : `, next on ${longDate(next_indexation_on)}`
  const first = next_review_on === null ? '' : `, next on ${longDate(next_review_on)}`
  return [
    ...(indexation_method === 'decreasing' ? [['Later years', 'The sum assured falls over the term'] as const] : []),
    ...(indexation_method === 'rpi' || indexation_method === 'fixed_percent'
      ? [['Later years', `Cover and premium grow every year${from}`] as const]
      : []),
    ...(premium_basis === 'reviewable' && review_period_years !== null
      ? [
          [
            'Premium is reviewed',
            `every ${review_period_years === 1 ? 'year' : `${review_period_years} years`}${first}`,
          ] as const,
        ]
      : []),
  ]
}

const componentBlocks = (component: PolicyComponent, policy: PolicyRecord): readonly PdfBlock[] => {
  const { cover_type, title, cover_amount_pence, monthly_benefit_pence, ends_on, premium_pence, members } = component
  const { currency_code: currency } = policy
  return [
    { kind: 'heading', text: title ?? covers[cover_type] },
    {
      kind: 'facts',
      facts: [
        ...(monthly_benefit_pence !== null
          ? [['Benefit', `${money(monthly_benefit_pence, currency)} a month`] as const]
          : cover_amount_pence !== null
            ? [['Sum assured', money(cover_amount_pence, currency)] as const]
            : []),
        ...(members === null ? [] : [['People covered', String(members)] as const]),
        ...(cover_type === 'critical_illness' && component.ci_payout_basis === 'accelerated'
          ? [['Paid out of', 'the life cover, which is then less by as much'] as const]
          : []),
        ...(component.term_years === null ? [] : [['Term', `${component.term_years} years`] as const]),
        ...(ends_on === null ? [] : [['Ends on', longDate(ends_on)] as const]),
        ['Premium', `${money(premium_pence, currency)} a month, ${component.premium_basis}`],
        ...laterYears(component, policy),
      ],
    },
  ]
}

const listed = (text: string, items: readonly string[]): readonly PdfBlock[] =>
  items.length === 0
    ? []
    : [{ kind: 'heading', text }, ...items.map((item) => ({ kind: 'paragraph', text: `• ${item}` }) as const)]

const contactFacts = ({ address, phone, email }: FirmContact): readonly PdfBlock[] => {
  const facts = [
    ['Write to', address],
    ['Call', phone],
    ['Email', email],
  ] as const
  const known = facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return known.length === 0 ? [] : [{ kind: 'facts', facts: known }]
}

/** The notice of the right to cancel within the cooling-off period. */
export const cancellationNotice = ({
  policy,
  release,
  firm,
  contact,
}: About & { readonly contact: FirmContact }): PdfContent => ({
  title: 'Your right to cancel',
  author: firm,
  created_at: policy.created_at,
  blocks: [
    {
      kind: 'facts',
      facts: [
        ['Policy number', policy.policy_number],
        ['Product', release.name],
        ['Policyholder', nameOf(policy.customer)],
        ['You can cancel until', longDate(policy.cooling_off_ends_on ?? policy.start_date)],
      ],
    },
    {
      kind: 'paragraph',
      text: `You can cancel this policy within ${release.cooldown_days} days of its start. You need not give a reason, and you get back all that you have paid.`,
    },
    {
      kind: 'paragraph',
      text: `To cancel, tell ${firm} your name and policy number, by letter, email or telephone, by the day above.`,
    },
    ...contactFacts(contact),
    {
      kind: 'paragraph',
      text: 'If you do not cancel within this time, the policy goes on. You can still end it at any time, and cover then ends without a refund of the premiums that were due.',
    },
  ],
})
