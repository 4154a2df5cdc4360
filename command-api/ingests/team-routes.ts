import { z } from 'zod'
import { CustomerDetails } from '#domain/customers/events.ts'
import { IngestContent } from '#domain/ingests/events.ts'
import { ingest, isIngest, type IngestCommand, type IngestState } from '#domain/ingests/ingest.ts'
import { explain, IngestRecord } from '#domain/ingests/record.ts'
import { CustomerId, IngestId, OrganisationId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext, teamRoute } from '../operator.ts'
import type { People } from './people.ts'

type Deps = { readonly writer: Writer; readonly people: People }

const organisationAddress = '/admin/v1/organisations/:organisation_id' as const
const oneIngest = `${organisationAddress}/ingests/:ingest_id` as const

const IngestPath = z.object({ organisation_id: OrganisationId, ingest_id: IngestId })
const OneIngest = z.object({
  data: IngestRecord.extend({ explanation: z.string() }).meta({ id: 'TeamIngestAfterwards' }),
})

const noIngest = () => notFound('ingest')

/** The team's routes for leads that could not be taken in without it. */
export const ingestTeamRoutes = ({ writer, people }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, ingest)

  const find = async ({ organisation_id, ingest_id }: z.output<typeof IngestPath>): Promise<IngestState> => {
    const state = await load(ingest_id)
    if (!isIngest(state) || state.record.organisation_id !== organisation_id) throw noIngest()
    return state
  }

  const act = async (path: z.output<typeof IngestPath>, command: IngestCommand, facts: RequestFacts) => {
    await find(path)
    const { state } = await handle(path.ingest_id, command, teamContext(path.organisation_id, facts))
    if (!isIngest(state)) throw noIngest()
    const { record } = state
    return { status: 200 as const, body: { data: { ...record, explanation: explain(record) } } }
  }

  return [
    route(
      {
        ...teamRoute('leads'),
        method: 'get',
        address: `${organisationAddress}/ingest_contents/:ingest_id`,
        summary: 'Show what was sent of a lead',
        path: IngestPath,
        answers: { 200: z.object({ data: IngestContent }) },
      },
      async ({ path }) => ({ status: 200, body: { data: (await find(path)).content } }),
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${oneIngest}/accept`,
        summary: 'Accept a lead that is held, although it does not meet the rules',
        path: IngestPath,
        errors: ['invalid_transition'],
        answers: { 200: OneIngest },
      },
      async ({ path, ...facts }) => act(path, { type: 'AcceptIngest' }, facts),
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${oneIngest}/pick_person`,
        summary: 'Say who a lead in review is about: somebody known, or, with null, somebody new',
        path: IngestPath,
        body: z.object({ contact_id: CustomerId.nullable() }),
        errors: ['invalid_transition'],
        answers: { 200: OneIngest },
      },
      async ({ path, body: { contact_id }, ...facts }) => {
        const isNobody = async (id: CustomerId) =>
          !(await people.record(path.organisation_id, id)) || (await people.isErased(id))
        if (contact_id !== null && (await isNobody(contact_id)))
          throw new Problem('validation_failed', 'Correct contact_id: there is nobody with this id.', {
            fields: { contact_id: 'there is nobody with this id' },
          })
        return act(path, { type: 'PickPerson', contact_id }, facts)
      },
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${oneIngest}/discard`,
        summary: 'Discard a lead that is held or in review',
        path: IngestPath,
        body: z.object({ note: z.string().trim().min(1).max(500).nullable().default(null) }),
        errors: ['invalid_transition'],
        answers: { 200: OneIngest },
      },
      async ({ path, body: { note }, ...facts }) => act(path, { type: 'DiscardIngest', note }, facts),
    ),
    route(
      {
        ...teamRoute('leads'),
        method: 'post',
        address: `${organisationAddress}/people/:contact_id/proposed_details`,
        summary: 'Accept or refuse details that an ingest or an application told of a person',
        path: z.object({ organisation_id: OrganisationId, contact_id: CustomerId }),
        body: z.object({
          source_id: z.uuid().describe('The ingest or application that proposed them.'),
          accept: z.array(CustomerDetails.keyof()).default([]),
          refuse: z.array(CustomerDetails.keyof()).default([]),
        }),
        errors: ['conflict'],
        answers: { 200: z.object({ data: z.object({ contact_id: CustomerId, ...CustomerDetails.shape }) }) },
      },
      async ({ path: { organisation_id, contact_id }, body: { source_id, accept, refuse }, ...facts }) => {
        const known = await people.record(organisation_id, contact_id)
        if (!known) throw notFound('person')
        const context = teamContext(organisation_id, facts)
        const email = accept.includes('email') ? known.proposed[source_id]?.email : undefined
        // By it the person is known from now on.
        if (typeof email === 'string') {
          const owner = await people.claim({ organisation_id, kind: 'email', value: email }, contact_id, context)
          if (owner !== contact_id)
            throw new Problem('conflict', 'The email address is another person’s. Refuse it, or change theirs first.', {
              fields: { accept: 'holds the email address of another person' },
            })
        }
        await people.handle(contact_id, { type: 'SettleProposals', source_id, accept, refuse }, context)
        const settled = (await people.record(organisation_id, contact_id)) ?? known
        return { status: 200, body: { data: { contact_id, ...CustomerDetails.parse(settled) } } }
      },
    ),
  ]
}
