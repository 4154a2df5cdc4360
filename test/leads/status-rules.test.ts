import { describe, expect, test } from 'vitest'
import type { OneLeadCommand } from '#domain/leads/commands.ts'
import { LeadStatus, type LeadEvent } from '#domain/leads/events.ts'
import { lead } from '#domain/leads/lead.ts'
import { isTerminal } from '#domain/leads/record.ts'
import { rejected, scenariosOf } from '../scenario.ts'
import { about, act, created, pipeline } from './builders.ts'

const scenario = scenariosOf(lead)

const became = (from: LeadStatus, to: LeadStatus, reason: string | null = null): LeadEvent => ({
  type: 'LeadStatusChanged',
  ...about,
  from,
  to,
  reason,
  dormant_at: to === 'open' ? '2026-02-14T12:00:00.000Z' : null,
  first_contact_due_at: isTerminal(to) ? null : created.first_contact_due_at,
})
const kindOf = (key: string) => (key === 'won' || key === 'lost' ? key : 'open')
const moved = (from: string, to: string): LeadEvent => ({
  type: 'LeadStageChanged',
  ...about,
  from: { key: from, kind: kindOf(from) },
  to: { key: to, kind: kindOf(to) },
})
const become = (status: LeadStatus, reason: string | null = null) => act({ type: 'ChangeStatus', status, reason })
const move = (stage: string) => act({ type: 'MoveToStage', stage })
const follow = (changes: Partial<Extract<OneLeadCommand, { type: 'FollowOutcome' }>>) =>
  act({ type: 'FollowOutcome', status: null, stage: null, reason: null, ...changes })

const ended = ['won', 'lost', 'disqualified', 'duplicate', 'invalid', 'not_interested', 'ineligible'] as const
const ruledOut = ['disqualified', 'duplicate', 'invalid', 'not_interested', 'ineligible'] as const

test('open and dormant leads are worked; all others have ended', () => {
  expect(LeadStatus.options.filter(isTerminal)).toEqual(
    LeadStatus.options.filter((each) => ended.includes(each as 'won')),
  )
})

describe.each(ended)('a lead that is %s', (from) => {
  for (const to of LeadStatus.options.filter((each) => each !== 'open' && each !== from))
    scenario(`is not made ${to} before it is opened`, {
      given: [created, became('open', from)],
      when: become(to),
      then: rejected(
        'invalid_transition',
        { 'acts[0].status': `cannot follow ${from}` },
        `The lead is ${from}. Open it again before you make it ${to}.`,
      ),
    })
  scenario('is not made so again', { given: [created, became('open', from)], when: become(from, 'why'), then: [] })
  scenario('is opened by a person, and stays at its open stage', {
    given: [created, became('open', from)],
    when: become('open'),
    then: [became(from, 'open')],
  })
  scenario('is opened by a move to another open stage', {
    given: [created, became('open', from)],
    when: move('contacted'),
    then: [moved('new', 'contacted'), became(from, 'open')],
  })
  scenario('stays so when a quote would move it to a stage', {
    given: [created, became('open', from)],
    when: follow({ stage: 'quoted' }),
    then: [],
  })
})

describe('a lead that is opened again', () => {
  const ended = became('open', 'lost')
  scenario('before anybody made contact is waited for as before', {
    given: [created, ended],
    when: become('open'),
    then: [{ ...became('lost', 'open'), first_contact_due_at: created.first_contact_due_at } as LeadEvent],
  })
  scenario('after it was told that nobody had is not told of once more', {
    given: [
      created,
      { type: 'LeadFirstContactOverdue', ...about, due_at: created.first_contact_due_at ?? '', minutes_overdue: 0 },
      ended,
    ],
    when: become('open'),
    then: [{ ...became('lost', 'open'), first_contact_due_at: null } as LeadEvent],
  })
})

describe.each(ruledOut)('a lead that becomes %s', (to) => {
  scenario('stays at its stage', { given: [created], when: become(to, 'why'), then: [became('open', to, 'why')] })
  scenario('stays at the stage of a sale that was lost', {
    given: [created, moved('new', 'lost')],
    when: become(to),
    then: [became('open', to)],
  })
})

describe('a dormant lead', () => {
  const given = [created, became('open', 'dormant')]
  scenario('is opened where it was', { given, when: become('open'), then: [became('dormant', 'open')] })
  scenario('is won', { given, when: become('won'), then: [became('dormant', 'won'), moved('new', 'won')] })
  scenario('stays dormant when it moves to an open stage', {
    given,
    when: move('contacted'),
    then: [moved('new', 'contacted')],
  })
  scenario('moves to the stage of a quote', {
    given,
    when: follow({ stage: 'quoted' }),
    then: [moved('new', 'quoted')],
  })
})

describe('stages', () => {
  scenario('an open lead moves between open stages', {
    given: [created, moved('new', 'quoted')],
    when: move('contacted'),
    then: [moved('quoted', 'contacted')],
  })
  scenario('the stage where it is changes nothing', { given: [created], when: move('new'), then: [] })
  scenario('nor does it open a lead that has ended there', {
    given: [created, became('open', 'invalid')],
    when: move('new'),
    then: [],
  })
  scenario('nor does the stage of a won lead', {
    given: [created, became('open', 'won'), moved('new', 'won')],
    when: move('won'),
    then: [],
  })
  scenario('a stage that means won makes the lead won', {
    given: [created],
    when: move('won'),
    then: [moved('new', 'won'), became('open', 'won')],
  })
  scenario('a lost lead that is moved to won is won', {
    given: [created, became('open', 'lost'), moved('new', 'lost')],
    when: move('won'),
    then: [moved('lost', 'won'), became('lost', 'won')],
  })
  scenario('an unknown stage is named, and what to do', {
    given: [created],
    when: move('limbo'),
    then: rejected(
      'validation_failed',
      { 'acts[0].stage': 'must be one of new, ' },
      'There is no stage limbo. Use one of',
    ),
  })
  scenario('the second of two stages that mean lost is kept when the lead becomes so', {
    given: [created, { ...moved('new', 'lost'), to: { key: 'gone', kind: 'lost' } } as LeadEvent],
    when: become('lost'),
    then: [became('open', 'lost')],
  })
  scenario('an organisation without a stage for it has its leads won all the same', {
    given: [created],
    when: act(
      { type: 'ChangeStatus', status: 'won', reason: null },
      { pipeline: { ...pipeline, stages: pipeline.stages.filter(({ kind }) => kind !== 'won') } },
    ),
    then: [became('open', 'won')],
  })
  scenario('a lead that goes dormant by hand stays where it is', {
    given: [created, moved('new', 'contacted')],
    when: become('dormant'),
    then: [became('open', 'dormant')],
  })
})

describe('outcomes', () => {
  scenario('an outcome without a stage or a status changes nothing', { given: [created], when: follow({}), then: [] })
  scenario('a stage that the organisation does not have is left', {
    given: [created],
    when: follow({ stage: 'limbo' }),
    then: [],
  })
  scenario('the same outcome again changes nothing, whatever its reason', {
    given: [created, became('open', 'won'), moved('new', 'won')],
    when: follow({ status: 'won', reason: 'again' }),
    then: [],
  })
  for (const from of ['won', 'open'] as const)
    scenario(`a lead that is ${from} when its sale is cancelled ${from === 'won' ? 'is lost' : 'stays so'}`, {
      given: [
        created,
        moved('new', 'won'),
        became('open', 'won'),
        ...(from === 'open' ? [became('won', 'open'), moved('won', 'new')] : []),
      ],
      when: follow({ status: 'lost', reason: 'cooling_off', from: 'won' }),
      then: from === 'won' ? [became('won', 'lost', 'cooling_off'), moved('won', 'lost')] : [],
    })
  scenario('a sale that is undone opens the lead at the first open stage', {
    given: [created, moved('new', 'quoted'), became('open', 'won'), moved('quoted', 'won')],
    when: follow({ status: 'open', reason: 'undone' }),
    then: [became('won', 'open', 'undone'), moved('won', 'new')],
  })
})
