import { z } from 'zod'
import { erasure } from '#domain/erasures/erasure.ts'
import { ErasurePreview, previewErasure } from '#domain/erasures/hindrances.ts'
import { Erasure, mayBeAskedByHand } from '#domain/erasures/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { subjectOfPerson } from '#infra/crypto/subjects.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { findStreams } from '#infra/people/find-streams.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { impersonalRoute, teamContext, teamRoute } from '../operator.ts'
import { Waiting } from '../waiting.ts'
import { makeErasureRequest, makeHeldOn, type RequestDeps } from './request.ts'

type Deps = RequestDeps & {
  readonly writer: Writer
  readonly eventLog: Pick<EventLog, 'read'>
  readonly dataKeys: Pick<DataKeys, 'isErased'>
}

const path = z.object({ organisation_id: OrganisationId, contact_id: CustomerId })

/** Erasing a person, for ever. */
export const erasureRoutes = ({ writer, eventLog, dataKeys, ...deps }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, erasure)
  const request = makeErasureRequest(deps)

  const heldOn = makeHeldOn(deps)

  /** Once it is decided that the key goes, nothing is left to ask for. */
  const mayAsk = async (begun: Erasure) =>
    mayBeAskedByHand(begun) && !(await dataKeys.isErased({ ...begun, subject: subjectOfPerson(begun.contact_id) }))

  return [
    route(
      {
        ...impersonalRoute('owner', 'policies'),
        method: 'get',
        address: '/admin/v1/organisations/:organisation_id/people/:contact_id/erasure_preview',
        summary: 'Show what an erasure of a person would take away, what would stay, and what is in its way',
        path,
        errors: ['conflict'],
        answers: { 200: z.object({ data: ErasurePreview }) },
      },
      async ({ path: person }) => {
        const { contact_id } = person
        const begun = (await load(contact_id))?.record
        if (begun?.organisation_id === person.organisation_id && begun.given_up_at === null)
          throw new Problem('conflict', 'The erasure of this person was asked for already. Look at the erasure itself.')
        const { hindrances, named } = await heldOn(person)
        const { streams } = await findStreams({ pool: deps.pool, eventLog }, person, named)
        return { status: 200, body: { data: previewErasure({ contact_id, hindrances, streams }) } }
      },
    ),
    route(
      {
        ...teamRoute('owner', 'policies'),
        method: 'post',
        address: '/admin/v1/organisations/:organisation_id/people/:contact_id/erasure',
        summary: 'Erase a person for ever: nothing that tells of them can be read any more, by nobody',
        path,
        errors: ['conflict'],
        answers: { 202: z.union([z.object({ data: Erasure }), Waiting]) },
      },
      async ({ path: person, ...facts }) => {
        const { organisation_id, contact_id } = person
        const begun = (await load(contact_id))?.record
        if (begun?.organisation_id === organisation_id && !(await mayAsk(begun)))
          return { status: 202, body: { data: begun } }
        const context = teamContext(organisation_id, facts)
        const { state } = await handle(contact_id, await request(person, context.actor.id), context)
        if (!state) throw notFound('person')
        return { status: 202, body: { data: state.record } }
      },
    ),
  ]
}
