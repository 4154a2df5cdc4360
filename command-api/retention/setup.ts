import { RetentionKind, RetentionPeriod, RetentionPeriods } from '#domain/retention/events.ts'
import { hoursUntilBinding } from '#domain/retention/record.ts'
import { retention } from '#domain/retention/retention.ts'
import { z } from 'zod'
import { reportUnlessOne, type SetupSection } from '../setup-file/section.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

const DeclaredRetention = z.partialRecord(RetentionKind, RetentionPeriod.nullable())
type DeclaredRetention = z.output<typeof DeclaredRetention>

const changeOf = (before: string | undefined, after: string | undefined, kind: RetentionKind): string => {
  const change = `${kind}: ${before ?? 'kept'} → ${after ?? 'kept'}`
  return after === undefined ? change : `${change}; what is kept until now stays for ${hoursUntilBinding} hours more`
}

/** For how long records are kept, by their kind. A kind that the file leaves out stays as it is; by null, it is kept again. */
export const retentionSection = (writer: Writer): SetupSection<DeclaredRetention> => {
  const { handle, load } = commandHandler(writer, retention)

  return {
    key: 'retention',
    schema: DeclaredRetention,
    plan: async (items, setup) => {
      const { organisation_id, context } = setup
      reportUnlessOne(setup, items, 'there is one period for each kind')
      const [declared] = items
      if (!declared) return []
      const { periods: before } = await load(organisation_id)
      const set = Object.entries({ ...before, ...declared }).filter(([, period]) => period !== null)
      const periods = RetentionPeriods.parse(Object.fromEntries(set))
      const changed = RetentionKind.options.filter((kind) => before[kind] !== periods[kind])
      return [
        {
          what: 'retention',
          change: changed.length === 0 ? 'none' : Object.keys(before).length > 0 ? 'change' : 'create',
          details: changed.map((kind) => changeOf(before[kind], periods[kind], kind)),
          apply: async () => {
            await handle(organisation_id, { type: 'SetRetention', organisation_id, periods }, context)
          },
        },
      ]
    },
    exported: async ({ organisation_id }) => {
      const { periods } = await load(organisation_id)
      if (Object.keys(periods).length === 0) return undefined
      return [Object.fromEntries(RetentionKind.options.map((kind) => [kind, periods[kind] ?? null]))]
    },
  }
}
