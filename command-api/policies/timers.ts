import { idOf } from '#domain/event.ts'
import type { PolicyRules } from '#domain/policy-rules/events.ts'
import { policy } from '#domain/policies/policy.ts'
import type { OrganisationId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../handle.ts'
import type { Catalogue } from '../live-catalogue.ts'
import type { Timer } from '../timers.ts'

type Deps = {
  readonly writer: Writer
  readonly catalogue: Pick<Catalogue, 'release'>
  readonly rulesOf: (organisation_id: OrganisationId) => PolicyRules
}

/** Cover starts, and ends, on the day that the policy says. */
export const policyTimers = ({ writer, catalogue, rulesOf }: Deps): readonly Timer[] => {
  const { handle, load } = commandHandler(writer, policy)
  return [
    {
      kind: 'policy_review',
      fire: async ({ stream, due_at }, context) => handle(idOf(stream), { type: 'CallReview', now: due_at }, context),
    },
    {
      kind: 'policy_indexation',
      fire: async ({ stream, due_at }, context) => {
        const state = await load(idOf(stream))
        if (!state) return
        const { organisation_id, product_id, product_release_id } = state
        const release = await catalogue.release(organisation_id, product_id, product_release_id)
        if (!release) throw new Error(`Release ${product_release_id} of product ${product_id} does not exist.`)
        const rules = rulesOf(organisation_id)
        await handle(state.id, { type: 'IndexPolicy', now: due_at, rules, release }, context)
      },
    },
    {
      kind: 'policy_start',
      fire: async ({ stream, due_at }, context) =>
        handle(idOf(stream), { type: 'ActivatePolicy', now: due_at }, context),
    },
    {
      kind: 'policy_end',
      fire: async ({ stream, due_at }, context) => handle(idOf(stream), { type: 'ExpirePolicy', now: due_at }, context),
    },
  ]
}
