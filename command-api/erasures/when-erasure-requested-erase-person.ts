import { erasure } from '#domain/erasures/erasure.ts'
import { mayBeErased } from '#domain/erasures/hindrances.ts'
import { erasureEvents } from '#domain/erasures/events.ts'
import { OwnError } from '#domain/own-error.ts'
import type { OrganisationId } from '#domain/values.ts'
import type { Shown } from '#infra/consumers/until-shown.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { subjectOfPerson } from '#infra/crypto/subjects.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { findStreams } from '#infra/people/find-streams.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { HoldOrErase } from './hold-or-erase.ts'
import { findHindrances, findSetAside, telling, untilShownAll } from './find-hindrances.ts'

type Deps = {
  readonly writer: Writer
  readonly pool: Database
  readonly holdOrErase: HoldOrErase
  readonly eventLog: Pick<EventLog, 'read'>
  readonly dataKeys: Pick<DataKeys, 'decide' | 'destroyDecided' | 'erase' | 'isErased'>
  readonly shown: Shown
}

const { PersonErasureRequested } = erasureEvents

/**
 * Destroys the key of the person, so that nothing more is stored of them, and the keys of all records that are theirs alone; then of
 * those that came up meanwhile. Repeated, it finds and destroys the same. What was sold or claimed while the erasure was asked for is
 * waited for.
 */
export const whenErasureRequestedErasePerson = ({
  writer,
  pool,
  holdOrErase,
  eventLog,
  dataKeys,
  shown,
}: Deps): Reaction<{ PersonErasureRequested: typeof PersonErasureRequested }> => {
  const { handle } = commandHandler(writer, erasure)

  /** All that was stored so far and tells of the person can be found from now on. */
  const allShown = async (organisation_id: OrganisationId) => {
    await untilShownAll(shown)
    const waiting = await findSetAside(pool, organisation_id, telling)
    if (waiting !== undefined)
      throw new OwnError(
        `${waiting} is set aside by a read model and may tell of the person: resume it, and then this.`,
      )
  }

  return {
    name: 'when-erasure-requested-erase-person',
    categories: ['erasure'],
    events: { PersonErasureRequested },
    react: async ({ organisation_id, contact_id, streams: known }, _recorded, context) => {
      const person = { organisation_id, contact_id }
      const ofPerson = { organisation_id, subject: subjectOfPerson(contact_id) }
      // Earlier versions sealed the files of a person under the other name.
      const ownKeys = [ofPerson.subject, contact_id]
      const streamsNow = async () => {
        await allShown(organisation_id)
        return findStreams({ pool, eventLog }, person, known)
      }
      await holdOrErase(organisation_id, async ({ db }) => {
        // After a restore the key is destroyed before the erasure is asked for again.
        if (await dataKeys.isErased(ofPerson)) return
        const { sealed } = await streamsNow()
        if (!mayBeErased(await findHindrances(pool, person)))
          throw new OwnError(
            'A policy was sold to the person, a claim or complaint opened, or a legal hold placed, while the erasure was asked for: end, settle or close it, and resume this.',
          )
        await dataKeys.decide(db, { organisation_id, subjects: [...ownKeys, ...sealed] }, { contact_id })
      })
      await dataKeys.destroyDecided(organisation_id)
      // What was stored until then, or decided before a restore.
      const { streams, sealed } = await streamsNow()
      for (const subject of [...ownKeys, ...sealed]) await dataKeys.erase({ organisation_id, subject }, contact_id)
      // Which of them were confirmed before is known from the erasure itself, however many appends that takes.
      for (;;) {
        const { events } = await handle(contact_id, { type: 'ConfirmErasure', streams }, context)
        if (events.length === 0) return
      }
    },
  }
}
