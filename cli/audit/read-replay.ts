import { z } from 'zod'
import { OrganisationId, SentInstant } from '#domain/values.ts'
import type { Position } from '#domain/event.ts'
import { usableSchema } from '../../projections/audit/replay-schemas.ts'
import type { ReplayMoment } from '../../projections/audit/replay.ts'

const hourMs = 3_600_000
const mostHours = 7 * 24

const Keep = z
  .string()
  .regex(/^[1-9]\d{0,2}[hd]$/)
  .transform((text) => Number(text.slice(0, -1)) * (text.endsWith('d') ? 24 : 1))
  .refine((hours) => hours <= mostHours)
  .transform((hours) => hours * hourMs)

const Asked = z.object({
  schema: z.string().regex(usableSchema),
  until: SentInstant.optional(),
  position: z.string().min(1).optional(),
  organisation: OrganisationId.optional(),
  personal: z.enum(['masked', 'opened']).default('masked'),
  keep: Keep.default(mostHours * hourMs),
  role: z.string().min(1).max(63).optional(),
  key: z.string().min(1).optional(),
})

export type AskedReplay = {
  readonly name: string
  readonly moment: ReplayMoment
  readonly organisation_id: string | null
  readonly personal: 'masked' | 'opened'
  readonly keepMs: number
  readonly reader: string | null
  readonly key: string | undefined
}

const lacking: Readonly<Record<string, string>> = {
  schema: 'must be a name of lower-case letters, digits and _, such as march_2026',
  until: 'must be a time such as 2026-03-31T23:59:59Z',
  organisation: 'must be the id of an organisation',
  personal: 'must be opened or masked',
  keep: 'must be hours or days such as 12h or 7d, seven days at most',
}

/** The replay that the options of a command ask for, or why they ask for none. */
export const readReplay = (options: object): AskedReplay | string => {
  const { data, error } = Asked.safeParse(options)
  const wrong = String(error?.issues[0]?.path[0])
  if (!data) return `--${wrong} ${lacking[wrong] ?? 'is not understood'}.`
  const { schema, until, position, organisation, personal, keep, role, key } = data
  if ((until === undefined) === (position === undefined))
    return 'Say --until TIME or --position POSITION, and one alone.'
  return {
    name: schema,
    moment: until === undefined ? { position: (position ?? '') as Position } : { known_at: new Date(until) },
    organisation_id: organisation ?? null,
    personal,
    keepMs: keep,
    reader: role ?? null,
    key,
  }
}
