import { z } from 'zod'
import { OrganisationId, SentInstant } from '#domain/values.ts'
import { installation } from '#infra/audit-tree/tree-rows.ts'
import type { Selection } from './export-rows.ts'

const Asked = z.object({
  to: z.string().min(1),
  organisation: z.union([OrganisationId, z.literal('installation').transform(() => installation)]),
  record: z
    .string()
    .regex(/^[a-z_]+-./)
    .toLowerCase()
    .optional(),
  person: z.uuid().toLowerCase().optional(),
  from: SentInstant.optional(),
  until: SentInstant.optional(),
})

type Asked = { readonly to: string; readonly organisation: string; readonly selection: Selection }

/** The events that the options of a command ask for, or why they ask for none. */
export const readSelection = (options: object): Asked | string => {
  const { data, error } = Asked.safeParse(options)
  const [wrong] = error?.issues ?? []
  if (!data) return `--${String(wrong?.path[0])} is missing, or is not understood.`
  const { to, organisation, record, person, from, until } = data
  if (record !== undefined && (person ?? from ?? until) !== undefined)
    return 'Say --record, or --person, --from and --until.'
  const selection = {
    ...(record !== undefined && { record }),
    ...(person !== undefined && { person }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
  }
  return { to, organisation, selection }
}
