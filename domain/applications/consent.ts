import { z } from 'zod'
import { ConsentOptOut, type Presentation } from '../catalogue/record.ts'
import type { ConsentEntry } from '../customers/events.ts'
import type { Fields } from '../rejection.ts'
import { Channel } from '../values.ts'
import type { ApplicationEvent } from './events.ts'
import type { ApplicationState } from './state.ts'

type Sent = Readonly<Record<string, unknown>>

type CustomerSaved = Extract<ApplicationEvent, { type: 'CustomerSaved' }>

const DetailsConfig = z.object({
  consent_opt_outs: z.array(ConsentOptOut).default([]),
  marketing_question: z.object({ label: z.string() }).nullable().default(null),
})

const channels: readonly string[] = ConsentOptOut.shape.channels.element.options

/** The opt-out boxes that the details stage of a presentation shows, by key. */
const optOuts = (presentation: Presentation | null): readonly ConsentOptOut[] =>
  detailsOf(presentation).flatMap(({ consent_opt_outs }) => consent_opt_outs)

const detailsOf = (presentation: Presentation | null) =>
  (presentation?.stages ?? [])
    .filter(({ stage_type }) => stage_type === 'personal_details')
    .flatMap(({ config }) => DetailsConfig.safeParse(config).data ?? [])

/** Consent entries from the answers, and the wording they answer. */
export type Answered = {
  readonly entries: readonly ConsentEntry[]
  readonly method: string
  readonly wording: string | null
}

/** A ticked box refuses its purpose and channels; the marketing question grants or refuses each channel. */
export const consentAnswered = (
  presentation: Presentation | null,
  { consent_answers, marketing_answers }: Pick<CustomerSaved, 'consent_answers' | 'marketing_answers'>,
): readonly Answered[] => {
  const ticked = optOuts(presentation).filter(({ key }) => consent_answers?.[key] === false)
  const asked = Object.entries(marketing_answers ?? {})
  const question = detailsOf(presentation).find(({ marketing_question }) => marketing_question)?.marketing_question
  return [
    ...ticked.map(({ label, purpose, channels: refused, basis }) => ({
      entries: refused.map((channel) => ({ purpose, channel, state: 'refused' as const, basis })),
      method: 'opt-out box',
      wording: label,
    })),
    ...(asked.length > 0
      ? [
          {
            entries: asked.map(([channel, agreed]) => ({
              purpose: 'first_party_marketing' as const,
              channel: Channel.parse(channel),
              state: agreed ? ('granted' as const) : ('refused' as const),
              basis: 'consent' as const,
            })),
            method: 'marketing question',
            wording: question?.label ?? null,
          },
        ]
      : []),
  ]
}

/** Only these may be written to about similar products without having said yes (PECR, regulation 22(3)). */
const softChannels: readonly string[] = ['email', 'sms']

/** The boxes left alone, once the customer has been quoted: marketing of the firm's own by email and text message. */
export const softOptIns = (
  presentation: Presentation | null,
  { consent_answers, boxes_shown, quotes }: Pick<ApplicationState, 'consent_answers' | 'boxes_shown' | 'quotes'>,
): readonly Answered[] => {
  if (!boxes_shown || quotes.length === 0) return []
  return optOuts(presentation).flatMap(({ key, label, purpose, channels: shown, basis }) => {
    const soft = shown.filter((channel) => softChannels.includes(channel))
    if (consent_answers[key] === false || purpose !== 'first_party_marketing' || soft.length === 0) return []
    const entries = soft.map((channel) => ({ purpose, channel, state: 'granted' as const, basis }))
    return [{ entries, method: 'opt-out box left alone', wording: label }]
  })
}

/** Reasons against the ticked boxes (by key, always false) and the marketing answers (yes or no by channel). */
export const consentFaults = (
  presentation: Presentation | null,
  consent_answers: Sent | undefined,
  marketing_answers: Sent | undefined,
): Fields => {
  const known = consent_answers ? optOuts(presentation).map(({ key }) => key) : []
  return Object.fromEntries([
    ...reasons('consent_answers', consent_answers, (key, value) => {
      if (!known.includes(key)) return 'is not an opt-out of this presentation'
      return value === false ? undefined : 'must be false: send only the boxes that are ticked'
    }),
    ...reasons('marketing_answers', marketing_answers, (channel, value) => {
      if (!channels.includes(channel)) return `must be one of ${channels.join(', ')}`
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    }),
  ])
}

const reasons = (
  input: string,
  sent: Sent = {},
  reasonAgainst: (key: string, value: unknown) => string | undefined,
): readonly (readonly [string, string])[] =>
  Object.entries(sent).flatMap(([key, value]) => {
    const reason = reasonAgainst(key, value)
    return reason === undefined ? [] : [[`${input}.${key}`, reason] as const]
  })
