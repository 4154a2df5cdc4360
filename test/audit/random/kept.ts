import { expect } from 'vitest'
import { changesOf, type Change } from '#domain/changes.ts'
import type { Position } from '#domain/event.ts'
import { storedEvents } from '#domain/stored-events.ts'
import { erasedData } from '#infra/crypto/erased.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { shownCategories } from '../../../query-api/audit/as-of/seat.ts'
import { addressesOf, addressesOfAll } from './addresses.ts'
import { insist, type Data, type World } from './world.ts'

/** What an address answered when every read model had come to a position of the log, and no further. */
export type Kept = { readonly address: string; readonly position: Position; readonly answer: Answered }
type Answered = { readonly status: number; readonly body: unknown }

const patienceMs = 60_000

/** Without what lets somebody act for the customer, which is not shown to whoever looks into the past. */
const withoutShareToken = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body, (name, value: unknown) => (name === 'share_token' ? undefined : value)))

const shownUpTo = async ({ service: { parts } }: World): Promise<Position> => {
  const head = (await parts.storedLog.head()) ?? expect.fail('Nothing has happened.')
  const waited = shownCategories.map(async (category) => parts.progress.wait(category, head, patienceMs))
  expect(await Promise.all(waited)).not.toContain(false)
  return head
}

/** Asks some addresses, again until nothing was recorded meanwhile. */
const ask = async (world: World, addresses: readonly string[]): Promise<readonly Kept[]> => {
  const { service, token } = world
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    const position = await shownUpTo(world)
    const kept = await Promise.all(
      addresses.map(async (address) => {
        const own = address.startsWith('/api/') ? { token } : {}
        const { status, body } = await insist(async () => service.send('GET', address, own))
        return { address, position, answer: { status, body: withoutShareToken(body) } }
      }),
    )
    if ((await service.parts.storedLog.head()) === position) return kept
  }
  return expect.fail('Something happens all the time.')
}

/** Keeps what some of the records that were touched, and some others, look like. */
export const keep = async (world: World): Promise<readonly Kept[]> => {
  const touched = world.takeTouched().flatMap((record) => addressesOf(record, world))
  const others = [...world.known.values()]
  const other = others[Math.floor(world.random() * others.length)]
  const chosen = new Set([
    ...touched.filter(() => world.chance(0.4)).slice(0, 14),
    ...(other ? [world.one('', ...addressesOf(other, world))] : []),
    ...(world.chance(0.1) ? [world.one(...addressesOfAll)] : []),
  ])
  chosen.delete('')
  return chosen.size === 0 ? [] : ask(world, [...chosen])
}

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.values(value).every(isEmpty))

/** Who was erased since, and the ids of all records that are, or were, about them. */
export const findGone = async ({ service, known, organisation_id }: World) => {
  const { rows } = await service.parts.pool.query<{ id: string; is_person: boolean }>(sql`
    with gone as (select contact_id as id from erasures where organisation_id = ${organisation_id})
    select id::text, true as is_person from gone
    union select substr(stream, strpos(stream, '-') + 1), false from recorded_events
    where organisation_id = ${organisation_id}
      and (person_id in (select id from gone) or second_person_id in (select id from gone))`)
  const records = new Set(rows.map(({ id }) => id))
  for (const { kind, id, of } of known.values())
    if (kind === 'quote' && of !== undefined && records.has(of)) records.add(id)
  return { people: new Set(rows.filter((row) => row.is_person).map(({ id }) => id)), records }
}

export type Compared = {
  readonly address: string
  readonly position: Position
  readonly changes: readonly Change[]
  /** Nothing differs but that values are empty. */
  readonly isEmptied: boolean
  /** The ids in the answer, and what people said of themselves. */
  readonly ids: readonly string[]
  readonly said: readonly string[]
}

const uuid = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/g
const said = /Ada[a-j]+q|Okafor[a-j]+q|person-\d+-q@/g

/** How an answer as of its position differs from what was kept of it. */
export const compare = async (
  { service, organisation_id, auditor }: World,
  { address, position, answer }: Kept,
): Promise<Compared> => {
  const asked = new URLSearchParams({ address, position }).toString()
  const path = `/audit/v1/organisations/${organisation_id}/as_of?${asked}`
  const { status, body } = await insist(async () => service.send('GET', path, { token: auditor }))
  const shown: Answered = { status, body: status === 200 ? (body.data as Data)['answer'] : body }
  const [before, after] = [JSON.stringify(answer), JSON.stringify(shown)]
  // The same bytes, not only the same values.
  const changes = before === after ? [] : [...changesOf(answer, shown), ...(isSame(answer, shown) ? [orderOnly] : [])]
  return {
    address,
    position,
    changes,
    isEmptied: changes.every(isGone),
    ids: `${address} ${after}`.match(uuid) ?? [],
    said: after.match(said) ?? [],
  }
}

const isSame = (one: unknown, other: unknown): boolean => changesOf(one, other).length === 0
const orderOnly: Change = { path: '(the order of fields)', before: true, after: false }

const leavesOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value]

/** What stands in an event for what is gone, where a value cannot be empty: of an actor, `system`. */
const standIns = new Set(Object.values(storedEvents).flatMap((shape) => leavesOf(erasedData(shape))))

/** An explanation is made of details that are gone. */
const isGone = ({ path, before, after }: Change): boolean =>
  (!isEmpty(before) && (isEmpty(after) || standIns.has(after))) ||
  (path.endsWith('.explanation') && after === String(before).replace(/ \([^)]*\)/, ''))
