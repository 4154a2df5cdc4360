import { z } from 'zod'
import type { Customer } from '#domain/customers/record.ts'
import { HeldRecord, LegalHoldId } from '#domain/legal-holds/events.ts'
import { legalHold } from '#domain/legal-holds/legal-hold.ts'
import { LegalHold } from '#domain/legal-holds/record.ts'
import { notFound, Rejection } from '#domain/rejection.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { derivedId, newId } from '#infra/ids.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { subjectOfPerson } from '#infra/crypto/subjects.ts'
import { keyInHeader, onceForKey } from '../idempotency-key.ts'
import { teamContext, teamRoute } from '../operator.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { HoldOrErase } from './hold-or-erase.ts'

type Person = { readonly organisation_id: OrganisationId; readonly contact_id: CustomerId }

export type LegalHoldDeps = {
  readonly writer: Writer
  readonly holdOrErase: HoldOrErase
  readonly dataKeys: Pick<DataKeys, 'isErased'>
  readonly people: {
    readonly record: (organisation_id: OrganisationId, id: CustomerId) => Promise<Customer | undefined>
    readonly isErased: (id: CustomerId) => Promise<boolean>
  }
  /** Says if one of the person's records is of this stream. */
  readonly isOf: (person: Person, stream: string) => Promise<boolean>
}

const address = '/admin/v1/organisations/:organisation_id/people/:contact_id/legal_holds'
const path = z.object({ organisation_id: OrganisationId, contact_id: CustomerId })
const reason = z.string().trim().min(1).max(2_000)
const OneHold = z.object({ data: LegalHold })
const team = teamRoute('owner')

/** Places and ends legal holds: while one is in force, the person is not erased. */
export const legalHoldRoutes = ({ writer, holdOrErase, dataKeys, people, isOf }: LegalHoldDeps): Route[] => {
  const { handle } = commandHandler(writer, legalHold)
  const requirePerson = async ({ organisation_id, contact_id }: Person) => {
    const person = await people.record(organisation_id, contact_id)
    if (!person || (await people.isErased(contact_id))) throw notFound('person')
  }
  return [
    route(
      {
        ...team,
        method: 'post',
        address,
        summary: 'Place a legal hold on a person: until it ends, nothing of them is erased',
        path,
        headers: { 'Idempotency-Key': onceForKey('hold') },
        body: z.object({
          reason: reason.describe('Why the person’s records are needed. Shown to whoever may read them.'),
          record: HeldRecord.nullable().default(null).describe('The one record for which they are needed.'),
        }),
        answers: { 201: OneHold },
        errors: ['conflict', 'idempotency_key_conflict'],
      },
      async ({ path: person, body, ...facts }) => {
        const { organisation_id, contact_id } = person
        await requirePerson(person)
        const { record } = body
        if (record && !(await isOf(person, `${record.type}-${record.id}`)))
          throw new Rejection('validation_failed', 'Correct record and send the request again.', {
            record: 'is no record of this person',
          })
        const key = keyInHeader(facts)
        const hold_id = LegalHoldId.parse(key === undefined ? newId() : derivedId('legal hold', contact_id, key))
        const command = { type: 'PlaceLegalHold', hold_id, ...person, ...body } as const
        const { state } = await holdOrErase(organisation_id, async (turn) => {
          if (await dataKeys.isErased({ organisation_id, subject: subjectOfPerson(contact_id) }))
            throw new Rejection(
              'conflict',
              `The erasure of the person ${contact_id} has begun: what it destroys can be kept no more.`,
            )
          await turn.require()
          return handle(contact_id, command, teamContext(organisation_id, facts))
        })
        return { status: 201, body: { data: LegalHold.parse(state[hold_id]) } }
      },
    ),
    route(
      {
        ...team,
        method: 'post',
        address: `${address}/:hold_id/ending`,
        summary: 'End a legal hold; one that has ended stays as it is',
        path: path.extend({ hold_id: LegalHoldId }),
        body: z.object({ reason }),
        answers: { 200: OneHold },
      },
      async ({ path: { hold_id, ...person }, body, ...facts }) => {
        await requirePerson(person)
        const { organisation_id, contact_id } = person
        const command = { type: 'EndLegalHold', hold_id, ...body } as const
        const { state } = await handle(contact_id, command, teamContext(organisation_id, facts))
        return { status: 200, body: { data: LegalHold.parse(state[hold_id]) } }
      },
    ),
  ]
}
