import { z } from 'zod'
import { FourEyesRule, ProposalId } from '#domain/approvals/events.ts'
import { fourEyes } from '#domain/approvals/four-eyes.ts'
import { proposal, unknownMakers, type ProposalState } from '#domain/approvals/proposal.ts'
import { noFourEyes, Proposal, rolesOfAct } from '#domain/approvals/record.ts'
import { notFound, Rejection } from '#domain/rejection.ts'
import { OrganisationId, type UserRole } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { impersonalRoute, teamActor, teamContext, teamRoute } from '../operator.ts'
import { mayWait } from '../waiting.ts'
import { commandHandler } from '../writing/handle.ts'
import { makeDoApproved, type DoDeps } from './do-approved.ts'

type Deps = DoDeps & { readonly eventLog: Pick<EventLog, 'read'> }

const organisation = '/admin/v1/organisations/:organisation_id'
const address = `${organisation}/approvals/:proposal_id` as const
const path = z.object({ organisation_id: OrganisationId, proposal_id: ProposalId })
type Path = z.output<typeof path>

const One = z.object({ data: Proposal })

const OneRule = z.object({ data: FourEyesRule.meta({ id: 'FourEyesRule' }) })

const shown = ({ record }: ProposalState) => ({ status: 200 as const, body: { data: record } })

const team = teamRoute('owner', 'finance', 'policies')

/** Of those who may call at all, only who may do the act itself may decide it. */
const refuseOtherRole = ({ record }: ProposalState, { user }: RequestFacts): void => {
  const wanted: readonly UserRole[] = rolesOfAct[record.act]
  if (!user || user.roles.some((role) => wanted.includes(role))) return
  throw new Problem('forbidden', `Only a user with the role ${wanted.join(' or ')} may decide this.`)
}

/** Why a proposal is void; undefined: all is as it was. */
const makeStillStands = ({ eventLog, ...deps }: Deps) => {
  const { attempt } = makeDoApproved(deps)

  return async (state: ProposalState): Promise<string | undefined> => {
    const { stream, revision, key_made_by } = state.made
    if (key_made_by === null) return unknownMakers
    const [last] = await eventLog.read(stream, { direction: 'backwards', limit: 1 })
    if ((last?.revision ?? null) !== revision) return `${stream} has changed since this was proposed.`
    try {
      await attempt(state)
      return undefined
    } catch (error) {
      if (error instanceof Rejection) return error.message
      throw error
    }
  }
}

/** Deciding what waits for a second user, and saying for what one is asked. */
export const approvalRoutes = (deps: Deps): Route[] => [...decisionRoutes(deps), ...ruleRoutes(deps)]

const decisionRoutes = (deps: Deps): Route[] => {
  const { handle, load } = commandHandler(deps.writer, proposal)
  const whyVoid = makeStillStands(deps)

  const find = async ({ organisation_id, proposal_id }: Path): Promise<ProposalState> => {
    const state = await load(proposal_id)
    if (state?.record.organisation_id !== organisation_id) throw notFound('proposal')
    return state
  }
  const decided = async (
    { organisation_id, proposal_id }: Path,
    command: Parameters<typeof handle>[1],
    facts: RequestFacts,
  ) => {
    const { state } = await handle(proposal_id, command, teamContext(organisation_id, facts))
    if (!state) throw notFound('proposal')
    return shown(state)
  }
  const spec = { ...team, path, answers: { 200: One }, errors: ['conflict'] } as const

  return [
    route(
      {
        ...spec,
        method: 'post',
        address: `${address}/approve`,
        summary: 'Approve an act that another user has proposed: it is then done. A key of a program is refused',
      },
      async ({ path: given, ...facts }) => {
        const state = await find(given)
        const { user } = facts
        if (!user)
          throw new Problem('forbidden', 'A user approves, with a key of their own: this key is that of a program.')
        refuseOtherRole(state, facts)
        const why = state.record.status === 'waiting' ? await whyVoid(state) : undefined
        if (why !== undefined && state.record.proposed_by.id !== user.id) {
          const { body } = await decided(given, { type: 'Void', found: 'waiting', because: why }, facts)
          if (body.data.status === 'voided')
            throw new Problem('conflict', `${why} The proposal is void: propose it again.`)
        }
        const key_made_by = facts.key_made_by ?? []
        return decided(given, { type: 'Approve', by: user.id, key_made_by, now: facts.now }, facts)
      },
    ),
    route(
      {
        ...spec,
        method: 'post',
        address: `${address}/reject`,
        summary: 'Reject an act that another user has proposed',
        body: z.object({ reason: z.string().trim().min(1).max(500).nullable().default(null) }),
      },
      async ({ path: given, body, ...facts }) => {
        refuseOtherRole(await find(given), facts)
        return decided(given, { type: 'Reject', by: teamActor(facts), note: body.reason }, facts)
      },
    ),
    route(
      {
        ...spec,
        method: 'post',
        address: `${address}/withdraw`,
        summary: 'Withdraw an act that you have proposed yourself',
      },
      async ({ path: given, ...facts }) => {
        await find(given)
        return decided(given, { type: 'Withdraw', by: teamActor(facts) }, facts)
      },
    ),
  ]
}

const ruleRoutes = ({ writer }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, fourEyes)
  const rulePath = z.object({ organisation_id: OrganisationId })

  return [
    route(
      {
        ...impersonalRoute('owner'),
        method: 'get',
        address: `${organisation}/four_eyes`,
        summary: 'Show for which acts an organisation asks for a second user',
        path: rulePath,
        answers: { 200: OneRule },
      },
      async ({ path: { organisation_id } }) => ({
        status: 200,
        body: { data: (await load(organisation_id)) ?? noFourEyes },
      }),
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: `${organisation}/four_eyes`,
        summary:
          'Change for which acts an organisation asks for a second user: only the fields sent. To ask less often waits for one',
        path: rulePath,
        body: FourEyesRule.partial().meta({ id: 'FourEyesRuleChange' }),
        answers: { 200: OneRule, ...mayWait },
      },
      async ({ path: { organisation_id }, body, ...facts }) => {
        const rule = FourEyesRule.parse({ ...noFourEyes, ...(await load(organisation_id)), ...body })
        const command = { type: 'SetFourEyes', organisation_id, rule } as const
        const { state } = await handle(organisation_id, command, teamContext(organisation_id, facts))
        return { status: 200, body: { data: state ?? noFourEyes } }
      },
    ),
  ]
}
