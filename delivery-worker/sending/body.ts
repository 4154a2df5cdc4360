import type { Pool } from 'pg'
import type { Json } from '#domain/event.ts'
import { subjectAfter, subjectOfPerson, subjectOfRecord } from '#infra/crypto/subjects.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { reasonOf } from '#infra/reason.ts'
import { unsentMax } from './backoff.ts'
import { kindNamed, type Capabilities, type Snapshots } from '../capability.ts'
import type { Claimed } from './queue.ts'
import type { Body } from './send.ts'

type Found = { readonly snapshot: Json | undefined } | { readonly missing: string }

/**
 * Makes the bodies of some deliveries from what the read models show at this moment. What fails for one kind of subject, or
 * for one delivery, is the reason why that has no body, and does not concern the others. Nothing is sent any more about
 * somebody who was erased, or of a record that was.
 */
export const readBodies = async (
  pool: Pool,
  capabilities: Capabilities,
  claimed: readonly Claimed[],
  now: Date,
): Promise<(delivery: Claimed) => Body> => {
  const wanted = claimed.filter(isWorthIt)
  const found = await readSnapshots(pool, capabilities, wanted, now)
  const peopleOf = ({ id, subject_type, subject_id }: Claimed): readonly string[] => {
    const its = found.get(id)
    const snapshot = its && 'snapshot' in its ? its.snapshot : undefined
    const kind = capabilities.subjects.find(({ type }) => type === subject_type)
    return kind?.people(subject_id, snapshot) ?? []
  }
  const erasedOf = await findErased(pool, wanted, peopleOf)

  return (delivery) => {
    if (!isWorthIt(delivery)) return { missing: 'lost with its worker, or not sent, too often' }
    const erased = erasedOf(delivery)
    if (erased !== undefined) return { missing: `the ${erased} was erased`, isForEver: true }
    const its = found.get(delivery.id) ?? { missing: 'its snapshot was not read' }
    if ('missing' in its) return its
    if (!its.snapshot) return { missing: 'its subject is not in the read models' }
    return { text: JSON.stringify({ ...delivery.message, ...its.snapshot }) }
  }
}

/** One that was lost that often may be why its workers died, so nothing is done for it any more. */
const isWorthIt = ({ unsent }: Claimed): boolean => unsent < unsentMax

const readSnapshots = async (
  pool: Pool,
  capabilities: Capabilities,
  wanted: readonly Claimed[],
  now: Date,
): Promise<ReadonlyMap<string, Found>> => {
  const found = new Map<string, Found>()
  const readKind = async ([type, own]: readonly [string, readonly Claimed[]]) => {
    const subjects = own.map(({ organisation_id, subject_id: id, event_id }) => ({ organisation_id, id, event_id }))
    try {
      const snapshotOf = await kindNamed(capabilities.subjects, type).readSnapshots(pool, subjects)
      for (const delivery of own) found.set(delivery.id, snapshotFor(snapshotOf, delivery, now))
    } catch (error) {
      for (const { id } of own) found.set(id, { missing: reasonOf(error) })
    }
  }
  await Promise.all([...Map.groupBy(wanted, ({ subject_type }) => subject_type)].map(readKind))
  return found
}

const snapshotFor = (snapshotOf: Snapshots, { subject_id, event_id }: Claimed, now: Date): Found => {
  try {
    return { snapshot: snapshotOf(subject_id, now, event_id) }
  } catch (error) {
    return { missing: reasonOf(error) }
  }
}

type ErasedPart = 'person' | 'record'

/** Finds deliveries about somebody, or of a record, whose data key was destroyed. A record that begins again is sent as it is now. */
const findErased = async (
  pool: Pool,
  wanted: readonly Claimed[],
  peopleOf: (delivery: Claimed) => readonly string[],
): Promise<(delivery: Claimed) => ErasedPart | undefined> => {
  const subjects = wanted.flatMap((delivery) => {
    const { id, organisation_id, stream } = delivery
    return peopleOf(delivery).flatMap((person) => {
      const [ofPerson, ofRecord] = [subjectOfPerson(person), subjectOfRecord(stream, person)]
      return [
        { id, organisation_id, subject: ofPerson, part: 'person' },
        ...(ofRecord !== undefined && subjectAfter(ofRecord) === undefined
          ? [{ id, organisation_id, subject: ofRecord, part: 'record' }]
          : []),
      ]
    })
  })
  if (subjects.length === 0) return () => undefined
  const { rows } = await pool.query<{ readonly id: string; readonly part: ErasedPart }>({
    name: 'delivery-erased',
    ...sql`
      select wanted.id, min(wanted.part) as part from unnest(
        ${subjects.map(({ id }) => id)}::uuid[], ${subjects.map(({ organisation_id }) => organisation_id)}::text[],
        ${subjects.map(({ subject }) => subject)}::text[], ${subjects.map(({ part }) => part)}::text[])
        as wanted (id, organisation_id, subject, part)
      join data_key using (organisation_id, subject)
      where coalesce(erasing_since, erased_at) is not null group by wanted.id`,
  })
  const erased = new Map(rows.map(({ id, part }) => [id, part]))
  return ({ id }) => erased.get(id)
}
