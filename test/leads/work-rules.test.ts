import { describe } from 'vitest'
import type { OneLeadCommand } from '#domain/leads/commands.ts'
import type { LeadEvent } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { about, act, activity, created, olive, pipeline } from './builders.ts'

const scenario = scenariosOf(lead)
const soon = '2026-01-15T12:00:00.001Z'
const later = '2026-01-15T13:00:00.000Z'

/** What an act does to a lead with this history; nothing: it was so already. */
const does = (name: string, history: readonly LeadEvent[], when: OneLeadCommand, then: readonly LeadEvent[]) => {
  scenario(name, { given: [created, ...history], when: act(when), then })
}

describe('vulnerability', () => {
  const flag = (flagged: boolean, details: string | null = null) =>
    ({ type: 'FlagVulnerability', flagged, details }) as const
  const flagged = (is: boolean, details: string | null = null): LeadEvent => ({
    type: 'LeadVulnerabilityFlagged',
    ...about,
    flagged: is,
    details,
  })
  does('a person is flagged as vulnerable', [], flag(true), [flagged(true)])
  does('and why', [], flag(true, 'Grieving'), [flagged(true, 'Grieving')])
  does('a flag that is up is not put up again', [flagged(true)], flag(true), [])
  does('details are recorded under a flag that is up', [flagged(true)], flag(true, 'Deaf'), [flagged(true, 'Deaf')])
  does('and once', [flagged(true, 'Deaf')], flag(true, 'Deaf'), [])
  does('other details are recorded, too', [flagged(true, 'Deaf')], flag(true, 'Ill'), [flagged(true, 'Ill')])
  does('a flag is taken down', [flagged(true)], flag(false), [flagged(false)])
  does('a flag that is down is not taken down', [], flag(false), [])
  does('a flag is put up again after it was taken down', [flagged(true), flagged(false)], flag(true), [flagged(true)])
})

describe('owner', () => {
  const una = { ...olive, id: activity(8), full_name: 'Una', email: 'una@example.org' }
  const assign = (owner_id: string | null) => ({ type: 'AssignOwner', owner_id }) as const
  const owned: LeadEvent = {
    type: 'LeadOwnerAssigned',
    ...about,
    from: null,
    to: olive.id,
    from_name: null,
    to_name: olive.full_name,
  }
  const left: LeadEvent = { ...owned, from: olive.id, to: null, from_name: olive.full_name, to_name: null }
  does('a lead is taken from its owner', [owned], assign(null), [left])
  does('a lead that nobody owns is taken from nobody', [], assign(null), [])
  does('it can be owned again afterwards', [owned, left], assign(olive.id), [owned])
  scenario('from one owner to the next, with the names of both', {
    given: [created, owned],
    when: act(assign(una.id), {
      pipeline: {
        ...pipeline,
        team_members: [
          { ...olive, active: false },
          { ...una, active: true },
        ],
      },
    }),
    then: [{ ...owned, from: olive.id, to: una.id, from_name: olive.full_name, to_name: 'Una' }],
  })
  scenario('an owner who has left the list has no name', {
    given: [created, owned],
    when: act(assign(null), { pipeline: { ...pipeline, team_members: [] } }),
    then: [{ ...left, from_name: null }],
  })
  scenario('a member who is not active any more owns nothing new', {
    given: [created],
    when: act(assign(olive.id), { pipeline: { ...pipeline, team_members: [{ ...olive, active: false }] } }),
    then: rejected('validation_failed', { 'acts[0].owner_id': 'no active member' }, 'Correct owner_id'),
  })
})

describe('snooze', () => {
  const snooze = (until: string) => ({ type: 'Snooze', until }) as const
  const snoozed = (until: string): LeadEvent => ({ type: 'LeadSnoozed', ...about, snoozed_until: until })
  const ended: LeadEvent = { type: 'LeadSnoozeEnded', ...about, snoozed_until: later }
  does('a lead is snoozed until a moment ahead, however near', [], snooze(soon), [snoozed(soon)])
  does('the same snooze changes nothing', [snoozed(soon)], snooze(soon), [])
  does('another moment takes its place', [snoozed(soon)], snooze(later), [snoozed(later)])
  does('a snooze is ended by hand', [snoozed(later)], { type: 'EndSnooze' }, [ended])
  does('it ends once', [snoozed(later), ended], { type: 'EndSnooze' }, [])
  does('a lead that is not snoozed has none to end', [], { type: 'EndSnooze' }, [])
  does('a lead is snoozed again after the snooze has ended', [snoozed(later), ended], snooze(later), [snoozed(later)])
  for (const [when, until] of [
    ['now', '2026-01-15T12:00:00.000Z'],
    ['behind', '2026-01-15T11:59:59.999Z'],
  ] as const)
    scenario(`a snooze until a moment that is ${when} is refused`, {
      given: [created],
      when: act(snooze(until)),
      then: rejected('validation_failed', { 'acts[0].until': 'must lie ahead' }, 'Correct until'),
    })
  for (const [name, given, now] of [
    ['does not end before its time', [snoozed(later)], '2026-01-15T12:59:59.999Z'],
    ['that was ended does not end again', [snoozed(later), ended], later],
    ['that there never was does not end', [], later],
  ] as const)
    scenario(`a snooze ${name}`, { given: [created, ...given], when: act({ type: 'SnoozeOver' }, { now }), then: [] })
})

describe('next action', () => {
  const call = { type: 'call', summary: 'Ring', due_at: later }
  const set = (next_action: typeof call | null): LeadEvent => ({ type: 'LeadNextActionSet', ...about, next_action })
  const will = (next_action: typeof call | null) => ({ type: 'SetNextAction', next_action }) as const
  const fell: LeadEvent = { type: 'LeadNextActionFellDue', ...about, next_action: call }
  does('is set', [], will(call), [set(call)])
  does('is set again', [set(call)], will({ ...call, summary: 'Write' }), [set({ ...call, summary: 'Write' })])
  does('is set once', [set(call)], will(call), [])
  does('is set again when it fell due', [set(call), fell], will(call), [set(call)])
  does('is taken away', [set(call)], will(null), [set(null)])
  does('that there is not is not taken away', [], will(null), [])
  scenario('that is set again falls due again', {
    given: [created, set(call), fell, set(call)],
    when: act({ type: 'NextActionDue' }, { now: later }),
    then: [fell],
  })
  scenario('that was taken away does not fall due', {
    given: [created, set(call), set(null)],
    when: act({ type: 'NextActionDue' }, { now: later }),
    then: [],
  })
})

describe('tasks', () => {
  const [first, second] = [activity(1), activity(2)] as const
  const add = (task_id: string) => ({ type: 'AddTask', task_id, title: 'Ring', due_at: later }) as const
  const added = (task_id: string, title = 'Ring'): LeadEvent => ({
    type: 'LeadTaskAdded',
    ...about,
    task_id,
    title,
    due_at: later,
  })
  const done = (task_id: string, title = 'Ring'): LeadEvent => ({ type: 'LeadTaskCompleted', ...about, task_id, title })
  const both = [added(first), added(second, 'Write')]
  does('a task is added', [], add(first), [added(first)])
  does('and another', [added(first)], add(second), [added(second)])
  does('the same is added once', both, add(first), [])
  does('a task is done', both, { type: 'CompleteTask', task_id: second }, [done(second, 'Write')])
  does('once', [...both, done(second, 'Write')], { type: 'CompleteTask', task_id: second }, [])
  does('the other is still to do', [...both, done(second, 'Write')], { type: 'CompleteTask', task_id: first }, [
    done(first),
  ])
  scenario('a task that there is not is refused and said so', {
    given: [created, ...both],
    when: act({ type: 'CompleteTask', task_id: activity(9) }),
    then: rejected('not_found', { 'acts[0].task_id': 'is the id of no task of this lead' }, 'no task with this id'),
  })
})

describe('other work', () => {
  const because = (note: string | null) => ({ type: 'SetOutcomeReason', reason: 'price', note }) as const
  const noted = (note: string | null): LeadEvent => ({ type: 'LeadOutcomeReasonSet', ...about, reason: 'price', note })
  const lost: LeadEvent = {
    type: 'LeadStatusChanged',
    ...about,
    from: 'open',
    to: 'lost',
    reason: 'price',
    dormant_at: null,
    first_contact_due_at: null,
  }
  does('why it ended so is noted', [], because('Too dear'), [noted('Too dear')])
  does('once', [noted('Too dear')], because('Too dear'), [])
  does('with another note it is noted again', [noted('Too dear')], because(null), [noted(null)])
  does('after it ended so, too', [noted(null), lost], because(null), [noted(null)])
  does('marks that it has change nothing', [], { type: 'Mark', marks: { priority: 'normal', archived: false } }, [])
  const run = (run_id: string) => ({ type: 'RunWorkflow', run_id, workflow_id: activity(7) }) as const
  const ran = (run_id: string): LeadEvent => ({ type: 'LeadRunByHand', ...about, run_id, workflow_id: activity(7) })
  does('a workflow is run by hand', [], run(activity(1)), [ran(activity(1))])
  does('the same run is recorded once', [ran(activity(1)), ran(activity(2))], run(activity(1)), [])
  does('another run of the workflow is another', [ran(activity(1))], run(activity(2)), [ran(activity(2))])
  does('details that were changed are named', [], { type: 'RecordDetailsChange', changed: ['email', 'postcode'] }, [
    { type: 'ContactDetailsChanged', ...about, changed: ['email', 'postcode'] },
  ])
  does('no detail is no change', [], { type: 'RecordDetailsChange', changed: [] }, [])
})
