import { FourEyesRule } from '#domain/approvals/events.ts'
import { fourEyes } from '#domain/approvals/four-eyes.ts'
import { noFourEyes } from '#domain/approvals/record.ts'
import { changesOf } from '#domain/changes.ts'
import type { z } from 'zod'
import { reportUnlessOne, type SetupSection } from '../setup-file/section.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'

const DeclaredFourEyes = FourEyesRule.partial().strict()
type DeclaredFourEyes = z.output<typeof DeclaredFourEyes>

/**
 * For what an organisation asks for a second user; what the file leaves out stays as it is. It is applied last: the file that first
 * asks for it is applied without.
 */
export const fourEyesSection = (writer: Writer): SetupSection<DeclaredFourEyes> => {
  const { handle, load, waits } = commandHandler(writer, fourEyes)

  return {
    key: 'four_eyes',
    schema: DeclaredFourEyes,
    plan: async (items, setup) => {
      const { organisation_id, context } = setup
      reportUnlessOne(setup, items, 'there is one rule')
      const [declared] = items
      if (!declared) return []
      const before = await load(organisation_id)
      const rule = FourEyesRule.parse({ ...noFourEyes, ...before, ...declared })
      const command = { type: 'SetFourEyes', organisation_id, rule } as const
      const changes = changesOf(before ?? noFourEyes, rule)
      return [
        {
          what: 'four eyes',
          change: changes.length === 0 ? 'none' : before ? 'change' : 'create',
          details: changes.map(({ path, before: was, after }) => `${path}: ${String(was)} → ${String(after)}`),
          waits: await waits(organisation_id, command, context),
          apply: async () => {
            await handle(organisation_id, command, context)
          },
        },
      ]
    },
    exported: async ({ organisation_id }) => {
      const rule = await load(organisation_id)
      return rule && [rule]
    },
  }
}
