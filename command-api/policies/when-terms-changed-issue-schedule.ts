import { policyEvents } from '#domain/policies/events.ts'
import { policy as policyDecider } from '#domain/policies/policy.ts'
import { evolvePolicyState } from '#domain/policies/state.ts'
import { policyStreamEvents } from '#domain/policies/record.ts'
import type { PolicyState } from '#domain/policies/state.ts'
import { fromStored, idOf, type RecordedEvent } from '#domain/event.ts'
import { OrganisationId } from '#domain/values.ts'
import type { SealedFiles } from '#infra/crypto/sealed-files.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import type { Reaction } from '../reactions/reaction.ts'
import { keptDocument, policySchedule } from './documents.ts'

const { PolicyAmended, PolicyCoverEnded, PolicyIndexed, PolicyReviewed } = policyEvents
const events = { PolicyAmended, PolicyCoverEnded, PolicyIndexed, PolicyReviewed }

type Deps = {
  readonly writer: Writer
  readonly catalogue: Pick<Catalogue, 'release'>
  readonly files: SealedFiles
  readonly organisations: ReadonlyMap<string, { readonly name: string }>
}

const pageSize = 500

/** A policy whose covers or premiums have changed gets another version of its schedule, of the terms from then on. */
export const whenTermsChangedIssueSchedule = ({
  writer,
  catalogue,
  files,
  organisations,
}: Deps): Reaction<typeof events> => {
  const { handle } = commandHandler(writer, policyDecider)

  /** The policy as it was after this event, whatever has changed since. */
  const policyAfter = async ({ stream, revision }: RecordedEvent): Promise<PolicyState | undefined> => {
    let state: PolicyState | undefined
    for (let from = 0; from <= revision; from += pageSize)
      for (const each of await writer.log.read(stream, { from, limit: Math.min(pageSize, revision + 1 - from) }))
        state = evolvePolicyState(state, fromStored(policyStreamEvents, each), each.metadata)
    return state
  }

  return {
    name: 'when-terms-changed-issue-schedule',
    categories: ['policy'],
    events,
    target: (_event, { stream }) => stream,
    react: async (_event, recorded, context) => {
      const policy = await policyAfter(recorded)
      const organisation_id = OrganisationId.parse(context.organisation_id)
      const release = policy && (await catalogue.release(organisation_id, policy.product_id, policy.product_release_id))
      if (!policy || !release) throw new Error(`The policy of ${recorded.stream} or its release cannot be read.`)
      const firm = organisations.get(organisation_id)?.name ?? ''
      const changed_at = recorded.metadata.occurred_at
      const keep = keptDocument(files, policy, recorded.id)
      const schedule = await keep('policy_schedule', policySchedule({ policy, release, firm, changed_at }))
      await handle(idOf(recorded.stream), { type: 'IssueDocuments', documents: [schedule] }, context)
    },
  }
}
