import { z } from 'zod'
import { ConsentOptOut, type Presentation } from '../catalogue/record.ts'
import type { Fields } from '../rejection.ts'

type Sent = Readonly<Record<string, unknown>>

const DetailsConfig = z.object({ consent_opt_outs: z.array(ConsentOptOut) })

const channels: readonly string[] = ConsentOptOut.shape.channels.element.options

/** The opt-out boxes that the details stage of a presentation shows, by key. */
const optOuts = (presentation: Presentation | null): readonly string[] =>
  (presentation?.stages ?? [])
    .filter(({ stage_type }) => stage_type === 'personal_details')
    .flatMap(({ config }) => DetailsConfig.safeParse(config).data?.consent_opt_outs ?? [])
    .map(({ key }) => key)

/** What cannot be used of the ticked boxes (by key, always false) and the marketing answers (yes or no by channel). */
export const consentFaults = (
  presentation: Presentation | null,
  consent_answers: Sent | undefined,
  marketing_answers: Sent | undefined,
): Fields => {
  const known = consent_answers ? optOuts(presentation) : []
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
