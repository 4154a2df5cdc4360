import { erasure } from '#domain/erasures/erasure.ts'
import { adviceOf, mayBeErased } from '#domain/erasures/hindrances.ts'
import { erasureEvents } from '#domain/erasures/events.ts'
import { OwnError } from '#domain/own-error.ts'
import type { CustomerId, OrganisationId } from '#domain/values.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { subjectOfPerson } from '#infra/crypto/subjects.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { findStreams } from '#infra/people/find-streams.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { HoldOrErase } from './hold-or-erase.ts'
import { findHindrances, findSetAside, telling, untilShownAll } from './find-hindrances.ts'
import { makeHeldOn, type RequestDeps } from './request.ts'

type Deps = RequestDeps & {
  readonly writer: Writer
  readonly holdOrErase: HoldOrErase
  readonly eventLog: Pick<EventLog, 'read'>
  readonly dataKeys: Pick<DataKeys, 'decide' | 'destroyDecided' | 'erase' | 'isErased'>
  /** Why a person is kept whose erasure nobody has asked for by hand; undefined: they are not. */
  readonly whyPersonKept: (person: Person) => Promise<string | undefined>
}

type Person = { readonly organisation_id: OrganisationId; readonly contact_id: CustomerId }

const { PersonErasureRequested } = erasureEvents

/**
 * Destroys the key of the person, so that nothing more is stored of them, and the keys of all records that are theirs alone; then of
 * those that came up meanwhile. Repeated, it finds and destroys the same. What was sold or claimed while the erasure was asked for is
 * waited for.
 */
export const whenErasureRequestedErasePerson = (
  deps: Deps,
): Reaction<{ PersonErasureRequested: typeof PersonErasureRequested }> => {
  const { writer, pool, holdOrErase, eventLog, dataKeys, shown, whyPersonKept } = deps
  const { handle, load } = commandHandler(writer, erasure)
  const heldOn = makeHeldOn(deps)

  /** All that was stored so far and tells of the person. */
  const streamsOf = async (person: Person, known: readonly string[]) => {
    await untilShownAll(shown)
    const waiting = await findSetAside(pool, person.organisation_id, telling)
    if (waiting !== undefined)
      throw new OwnError(
        `${waiting} is set aside by a read model and may tell of the person: resume it, and then this.`,
      )
    return findStreams({ pool, eventLog }, person, known)
  }

  /** Why the person is kept; undefined: they are not. Whoever has asked for it by hand decides what becomes of it. */
  const whyKept = async (person: Person, requested_by: string | null): Promise<string | undefined> => {
    if (requested_by !== null) {
      if (mayBeErased(await findHindrances(pool, person))) return undefined
      throw new OwnError(
        'A policy was sold to the person, a claim or complaint opened, a refund owed, or a legal hold placed, while the erasure was asked for: end, settle, close or pay it, and resume this.',
      )
    }
    const { hindrances, named } = await heldOn(person)
    const [hindrance] = hindrances
    if (hindrance) return adviceOf(hindrance)
    return named.length > 0 ? 'Something that is held names them.' : whyPersonKept(person)
  }

  return {
    name: 'when-erasure-requested-erase-person',
    categories: ['erasure'],
    events: { PersonErasureRequested },
    react: async ({ organisation_id, contact_id, streams: known, ...event }, _recorded, context) => {
      const asked = await load(contact_id)
      if (asked && asked.record.given_up_at !== null) return
      const requested_by = asked ? asked.record.requested_by : event.requested_by
      const person = { organisation_id, contact_id }
      const ofPerson = { organisation_id, subject: subjectOfPerson(contact_id) }
      // Earlier versions sealed the files of a person under the other name.
      const ownKeys = [ofPerson.subject, contact_id]
      // Others wait while it has its turn.
      await untilShownAll(shown)
      const isKept = await holdOrErase(organisation_id, async (turn) => {
        // After a restore the key is destroyed before the erasure is asked for again.
        if (await dataKeys.isErased(ofPerson)) return false
        const { sealed } = await streamsOf(person, known)
        const because = await whyKept(person, requested_by)
        if (because !== undefined) {
          // Whoever has the next turn may destroy the keys.
          await turn.require()
          await handle(contact_id, { type: 'GiveUpErasure', because }, context)
          return true
        }
        await dataKeys.decide(turn.db, { organisation_id, subjects: [...ownKeys, ...sealed] }, { contact_id })
        return false
      })
      if (isKept) return
      await dataKeys.destroyDecided(organisation_id)
      // What was stored until then, or decided before a restore.
      const { streams, sealed } = await streamsOf(person, known)
      for (const subject of [...ownKeys, ...sealed]) await dataKeys.erase({ organisation_id, subject }, contact_id)
      // Which of them were confirmed before is known from the erasure itself, however many appends that takes.
      for (;;) {
        const { events } = await handle(contact_id, { type: 'ConfirmErasure', streams }, context)
        if (events.length === 0) return
      }
    },
  }
}
