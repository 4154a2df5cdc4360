import type { Pool, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import type { Position, RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { fillState, writtenState } from '#infra/consumers/fold-state.ts'
import { makeLiveFolds, type Fold } from '#infra/consumers/live-folds.ts'
import { LogUnavailable, type EventLog, type Subscription } from '#infra/event-log/event-log.ts'
import { fixture, raised, soon, tallyId, type Fixture } from './fixture.ts'
import { newEvent, organisation_id, tallyEvents } from './tally.ts'

type Totals = Map<string, number>

/** How often each tally was raised. */
const totals = (name = 'totals', version = 1): Fold<typeof tallyEvents, Totals> => ({
  name,
  version,
  categories: ['tally'],
  events: tallyEvents,
  apply: (state, event, { stream }) => {
    if (event.type === 'TallyRaised') state.set(stream, (state.get(stream) ?? 0) + event.by)
  },
})

const stream = (number: number) => `tally-${tallyId(number)}`

/** A log that notes its subscriptions and the events that they gave. */
const observed = (log: EventLog) => {
  const opened: Subscription[] = []
  const given: RecordedEvent[] = []
  const subscribe = async function* (subscription: Subscription) {
    opened.push(subscription)
    for await (const batch of log.subscribe(subscription)) {
      given.push(...batch.events)
      yield batch
    }
  }
  return { log: { ...log, subscribe }, opened, given }
}

const starting = (the: Fixture, options: Partial<Parameters<typeof makeLiveFolds>[0]> = {}) => {
  const process = the.makeProcess()
  const watched = observed(options.eventLog ?? the.eventLog)
  const folds = makeLiveFolds({ ...process.parts, retryMs: 10, ...options, eventLog: watched.log })
  return { ...process, ...watched, folds }
}

const savedPosition = async ({ pool }: Fixture, name = 'totals'): Promise<Position | undefined> => {
  const { rows } = await pool.query<{ position: Position }>(
    'select position from fold_snapshot where name = $1 and version = 1',
    [name],
  )
  return rows[0]?.position
}

/** Two events that a process has folded, and a snapshot of them; then a third one. */
const withSnapshot = async (the: Fixture) => {
  await the.append(1, raised(1), raised(2))
  const first = starting(the)
  await first.folds.follow(totals(), new Map())
  await soon(async () => expect(await savedPosition(the)).toBeDefined())
  await first.stop()
  await the.append(2, raised(4))
}

test('folds that are asked for together read the log in one pass, and those of one name have one state', async () => {
  await using the = await fixture()
  await the.append(1, raised(1), raised(2))
  const { folds, opened } = starting(the)

  const [one, again, other] = await Promise.all([
    folds.follow(totals(), new Map()),
    folds.follow(totals(), new Map()),
    folds.follow(totals('other'), new Map()),
  ])

  expect(opened).toHaveLength(1)
  expect(again).toBe(one)
  expect(other).not.toBe(one)
  expect([...one]).toEqual([[stream(1), 3]])
  await the.append(2, raised(5))
  await soon(() => expect([one.get(stream(2)), other.get(stream(2))]).toEqual([5, 5]))
})

test('a fold starts from its last snapshot and reads only what has happened since', async () => {
  await using the = await fixture()
  await withSnapshot(the)
  const { folds, given } = starting(the)

  const state = await folds.follow(totals(), new Map())

  expect(Object.fromEntries(state)).toEqual({ [stream(1)]: 3, [stream(2)]: 4 })
  expect(given).toHaveLength(1)
})

test('a snapshot of another version of the fold is not used', async () => {
  await using the = await fixture()
  await withSnapshot(the)
  const { folds, given } = starting(the)

  const state = await folds.follow(totals('totals', 2), new Map())

  expect(state.get(stream(1))).toBe(3)
  expect(given).toHaveLength(3)
})

test.each([
  ['from beyond the end of the log', `position = repeat('9', 20) || '-' || repeat('9', 20)`],
  ['from another kind of log', `position = '0/0'`],
  ['of another log', `last_event_id = gen_random_uuid()`],
])('a snapshot %s is not used, and is replaced', async (_, change) => {
  await using the = await fixture()
  await withSnapshot(the)
  await the.pool.query(`update fold_snapshot set ${change}`)
  const { folds, given } = starting(the)

  const state = await folds.follow(totals(), new Map())

  expect(state.get(stream(1))).toBe(3)
  expect(given).toHaveLength(3)
  await soon(async () => expect(await savedPosition(the)).toBe(await the.eventLog.head()))
})

/** A fold that cannot apply what raises a tally by 7, until it is mended. */
const breakable = (name = 'breaking') => {
  let isBroken = true
  const fold: Fold<typeof tallyEvents, Totals> = {
    ...totals(name),
    apply: (state, event, recorded) => {
      if (isBroken && event.type === 'TallyRaised' && event.by === 7) throw new OwnError('not this one')
      totals().apply(state, event, recorded)
    },
  }
  return { fold, mend: () => (isBroken = false) }
}
const complaints = (lines: ReturnType<typeof starting>['lines']) =>
  lines.filter(({ msg }) => msg === 'live fold cannot apply an event and retries')

test('an event that cannot be applied sets its record aside: its later events wait, all others are applied', async () => {
  await using the = await fixture()
  const { folds, lines } = starting(the)
  const { fold, mend } = breakable()
  const [broken, other] = await Promise.all([folds.follow(fold, new Map()), folds.follow(totals(), new Map())])

  await the.append(1, raised(1), raised(7), raised(1))
  await the.append(2, raised(2))
  await the.append(1, raised(1))
  await the.append(3, raised(7))

  await soon(() => expect(other.get(stream(3))).toBe(7))
  await soon(() => expect(folds.status()[0]?.setAside).toHaveLength(2))
  expect(Object.fromEntries(broken)).toEqual({ [stream(1)]: 1, [stream(2)]: 2 })
  const reason = (tally: number) => `TallyRaised of ${stream(tally)} cannot be applied: not this one`
  expect(folds.status()).toMatchObject([
    { name: 'breaking', setAside: [{ reason: reason(1) }, { reason: reason(3) }] },
    { name: 'totals', setAside: [] },
  ])
  expect(folds.status().map(({ stale }) => stale)).toEqual([undefined, undefined])
  expect(complaints(lines)).toHaveLength(2)
  mend()
  await soon(() => expect(folds.status()[0]?.setAside).toEqual([]))
  expect(broken).toEqual(other)
  await the.append(1, raised(5))
  await soon(() => expect(broken.get(stream(1))).toBe(15))
})

test('nothing is decided on a record that is set aside, and other organisations are served', async () => {
  await using the = await fixture()
  const { folds } = starting(the, { mayLagMs: 0 })
  const { fold, mend } = breakable()
  await folds.follow(fold, new Map())

  await the.append(1, raised(7))

  await soon(() => expect(folds.status()[0]?.setAside).toHaveLength(1))
  expect(() => folds.requireCurrent('breaking', organisation_id)).toThrow(LogUnavailable)
  expect(() => folds.requireCurrent('breaking', '99999999-0000-4000-8000-000000000001')).not.toThrow()
  expect(() => folds.requireCurrent('breaking')).not.toThrow()
  mend()
  await soon(() => expect(() => folds.requireCurrent('breaking', organisation_id)).not.toThrow())
})

test('an event of no organisation that cannot be applied concerns all', async () => {
  await using the = await fixture()
  const { folds } = starting(the, { mayLagMs: 0 })
  const { fold, mend } = breakable()
  await folds.follow(fold, new Map())
  const { metadata, ...event } = newEvent(raised(7))

  await the.eventLog.append(stream(1), 'any', [{ ...event, metadata: { ...metadata, organisation_id: null } }])

  await soon(() => expect(() => folds.requireCurrent('breaking', organisation_id)).toThrow(LogUnavailable))
  expect(() => folds.requireCurrent('breaking')).toThrow(LogUnavailable)
  expect(folds.status()[0]?.stale?.reason).toContain('not this one')
  mend()
  await soon(() => expect(folds.status()[0]?.stale).toBeUndefined())
})

test('no snapshot is saved while a record is set aside, so a process that starts meanwhile meets its event too', async () => {
  await using the = await fixture()
  await the.append(1, raised(1), raised(7))
  await the.append(2, raised(2))
  const first = starting(the)
  const both = [breakable('totals').fold, totals('other')]
  await Promise.all(both.map((fold) => first.folds.follow(fold, new Map())))
  // They are saved in this order.
  await soon(async () => expect(await savedPosition(the, 'other')).toBeDefined())
  expect(await savedPosition(the)).toBeUndefined()
  await first.stop()

  const state = await starting(the).folds.follow(totals(), new Map())

  expect(Object.fromEntries(state)).toEqual({ [stream(1)]: 8, [stream(2)]: 2 })
})

test('a snapshot has the state of its position although events arrive while it is saved', async () => {
  await using the = await fixture()
  await the.append(1, raised(1))
  let arrive: (() => Promise<void>) | undefined
  const query = async (statement: QueryConfig) => {
    const result = await the.pool.query(statement)
    if (statement.text.includes('is_due')) await arrive?.()
    return result
  }
  const first = starting(the, { pool: Object.assign(Object.create(the.pool) as Pool, { query }) })
  const state: Totals = new Map()
  arrive = async () => {
    arrive = undefined
    await the.append(1, raised(2))
    await soon(() => expect(state.get(stream(1))).toBe(3))
  }
  await first.folds.follow(totals(), state)
  await soon(async () => expect(await savedPosition(the)).toBeDefined())
  await first.stop()

  const second = await starting(the).folds.follow(totals(), new Map())

  expect(second.get(stream(1))).toBe(3)
})

test('folds that cannot read the log say since when, whatever others can read', async () => {
  await using the = await fixture()
  const subscribe = (subscription: Subscription) => {
    if (subscription.categories?.includes('away')) throw new OwnError('cannot be read')
    return the.eventLog.subscribe(subscription)
  }
  const { folds, lines, stop } = starting(the, { eventLog: { ...the.eventLog, subscribe } })
  const state = await folds.follow(totals(), new Map())
  const following = folds.follow({ ...totals('away'), categories: ['away'] }, new Map())
  const stale = () => Object.fromEntries(folds.status().map((status) => [status.name, status.stale]))
  await soon(() => expect(stale()['away']?.reason).toBe('cannot be read'))
  const since = stale()['away']?.since
  const attempts = () => lines.filter(({ msg }) => String(msg).startsWith('live folds cannot read')).length
  const attemptsBefore = attempts()

  await the.append(1, raised(5))
  await soon(() => expect(state.get(stream(1))).toBe(5))
  await soon(() => expect(attempts()).toBeGreaterThan(attemptsBefore + 1))

  expect(stale()).toEqual({ totals: undefined, away: { since, reason: 'cannot be read' } })
  await stop()
  await following
})

test('nothing is decided on a fold that could not read the log for longer than it may lag', async () => {
  await using the = await fixture()
  let outage: { since: Date; reason: string } | undefined
  const eventLog = { ...the.eventLog, outage: () => outage }
  const { folds } = starting(the, { eventLog, mayLagMs: 30_000 })
  await folds.follow(totals(), new Map())

  outage = { since: new Date(Date.now() - 29_000), reason: 'no quorum' }
  expect(() => folds.requireCurrent('totals')).not.toThrow()
  expect(folds.status()).toMatchObject([{ stale: { reason: 'no quorum' } }])

  outage = { since: new Date(Date.now() - 31_000), reason: 'no quorum' }
  expect(() => folds.requireCurrent('totals')).toThrow(LogUnavailable)
})

test('a state too large for a snapshot is written no further than it takes to see this', () => {
  let written = 0
  const text = 'x'.repeat(1_000_000)
  const megabyte = { toJSON: () => (written++, text) }
  const few = new Map([['1', { said: 'né "à"' }]])
  const stateWith = (many: number) => ({
    few,
    many: new Map(Array.from({ length: many }, (_, index) => [String(index), megabyte])),
  })

  expect(writtenState(stateWith(100))).toBeUndefined()
  expect(written).toBe(16)

  const restored = { few: new Map<string, unknown>(), many: new Map<string, unknown>() }
  fillState(restored, writtenState(stateWith(2)) ?? '')
  expect(restored).toEqual({
    few,
    many: new Map([
      ['0', text],
      ['1', text],
    ]),
  })
})
