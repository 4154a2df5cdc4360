import { z } from 'zod'
import { timeZoneOf } from '#domain/access/record.ts'
import {
  noCounts,
  OperatedStream,
  renderOperated,
  type OutreachSettings,
  type OutreachStream,
} from '#domain/outreach/record.ts'
import { outreachSettings } from '#domain/outreach/settings.ts'
import type { SteeringAct } from '#domain/outreach/stream.ts'
import { OrganisationId, OutreachStreamId } from '#domain/values.ts'
import { notFound } from '#domain/rejection.ts'
import { route, type RequestFacts, type Route } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext, impersonalRoute, teamRoute, type Organisations } from '../operator.ts'
import { chosen, DeclaredPrice, DeclaredRate, DeclaredStream, priceOf, withDefaults } from './declared.ts'
import { outreachStreamIdOf } from './ids.ts'
import { makeStreams } from './streams.ts'

type Deps = { readonly writer: Writer; readonly directory: Organisations }

const organisationAddress = '/admin/v1/organisations/:organisation_id' as const
const streamsAddress = `${organisationAddress}/outreach_streams` as const
const settingsAddress = `${organisationAddress}/outreach` as const

const OrganisationPath = z.object({ organisation_id: OrganisationId })
const StreamPath = OrganisationPath.extend({ stream_id: OutreachStreamId })

/** A command's answer: the stream as it now is, without counters. */
const OneStream = z.object({
  data: OperatedStream.pick({
    id: true,
    slug: true,
    name: true,
    kind: true,
    status: true,
    started_at: true,
    paused_at: true,
    archived_at: true,
    work_cancelled_at: true,
    next_issue_at: true,
    budget_exceeded: true,
    cost_ceiling_pence: true,
    total_cost_pence: true,
    texts: true,
    created_at: true,
  }),
})

const Settings = z
  .object({
    is_on: z.boolean(),
    writer_price: DeclaredPrice,
    exchange_rates: z.array(DeclaredRate).readonly(),
  })
  .meta({ id: 'OutreachSettings' })
const OneSettings = z.object({ data: Settings })

const shownSettings = ({ is_on, writer_price, exchange_rates }: OutreachSettings) => ({
  is_on,
  writer_price: {
    input_usd: writer_price.input_usd_micros / 1_000_000,
    output_usd: writer_price.output_usd_micros / 1_000_000,
  },
  exchange_rates,
})

const acts = ['start', 'pause', 'resume', 'stop', 'reopen', 'cancel_work', 'archive'] as const satisfies SteeringAct[]

const shown = (stream: OutreachStream) => OneStream.shape.data.parse(renderOperated(stream, noCounts))

/** The operator's routes to set up and steer outreach as a whole, and its streams. */
export const outreachStreamRoutes = ({ writer, directory }: Deps): Route[] => {
  const { handle, load } = makeStreams(writer)
  const settings = commandHandler(writer, outreachSettings)

  const momentOf = (organisation_id: OrganisationId, { now }: Pick<RequestFacts, 'now'>) => ({
    now,
    time_zone: timeZoneOf(directory.organisations, organisation_id),
  })

  const refuseUnknownStream = async (organisation_id: OrganisationId, stream_id: OutreachStreamId): Promise<void> => {
    const { stream } = await load(stream_id)
    if (stream?.organisation_id !== organisation_id) throw notFound('outreach stream')
  }

  return [
    route(
      {
        ...impersonalRoute('owner', 'leads'),
        method: 'get',
        address: settingsAddress,
        summary: 'Show whether an organisation has outreach streams, and the rates by which drafts are paid',
        path: OrganisationPath,
        answers: { 200: OneSettings },
      },
      async ({ path: { organisation_id } }) => {
        return { status: 200, body: { data: shownSettings(await settings.load(organisation_id)) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: settingsAddress,
        summary:
          'Switch outreach streams on or off for an organisation, or tell what a US dollar is worth from a day on',
        path: OrganisationPath,
        body: z.object({
          is_on: z.boolean().optional(),
          writer_price: DeclaredPrice.optional(),
          exchange_rates: z.array(DeclaredRate).max(400).default([]),
        }),
        answers: { 200: OneSettings },
      },
      async ({ path: { organisation_id }, body: { is_on, writer_price: price, exchange_rates }, ...facts }) => {
        const writer_price = price && priceOf(price)
        const command = { type: 'ChangeSettings', organisation_id, is_on, writer_price, exchange_rates } as const
        const { state } = await settings.handle(organisation_id, command, teamContext(organisation_id, facts))
        return { status: 200, body: { data: shownSettings(state) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: streamsAddress,
        summary: 'Create an outreach stream. Nobody joins before it is started',
        path: OrganisationPath,
        body: DeclaredStream,
        errors: ['conflict'],
        answers: { 201: OneStream },
      },
      async ({ path: { organisation_id }, body: { slug, kind, ...choices }, ...facts }) => {
        const stream_id = outreachStreamIdOf(organisation_id, slug)
        const { state } = await handle(
          stream_id,
          { type: 'CreateStream', stream_id, organisation_id, slug, kind, choices: withDefaults(kind, choices) },
          teamContext(organisation_id, facts),
        )
        if (!state.stream) throw notFound('outreach stream')
        return { status: 201, body: { data: shown(state.stream) } }
      },
    ),
    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: `${streamsAddress}/:stream_id`,
        summary: 'Change an outreach stream: only the fields sent. Messages that are written stay as they are',
        path: StreamPath,
        body: z.object(chosen).partial(),
        errors: ['conflict'],
        answers: { 200: OneStream },
      },
      async ({ path: { organisation_id, stream_id }, body, ...facts }) => {
        await refuseUnknownStream(organisation_id, stream_id)
        const choices = Object.fromEntries(Object.entries(body).filter(([, value]) => (value as unknown) !== undefined))
        const { state } = await handle(
          stream_id,
          { type: 'ChangeStream', choices, ...momentOf(organisation_id, facts) },
          teamContext(organisation_id, facts),
        )
        if (!state.stream) throw notFound('outreach stream')
        return { status: 200, body: { data: shown(state.stream) } }
      },
    ),
    route(
      {
        ...teamRoute('owner', 'leads'),
        method: 'post',
        address: `${streamsAddress}/:stream_id/acts`,
        summary:
          'Steer an outreach stream: start, pause and resume sending, stop and reopen joining, cancel what is under way, archive',
        path: StreamPath,
        body: z.object({ act: z.enum(acts) }),
        errors: ['invalid_transition'],
        answers: { 200: OneStream },
      },
      async ({ path: { organisation_id, stream_id }, body: { act }, ...facts }) => {
        await refuseUnknownStream(organisation_id, stream_id)
        const { state } = await handle(
          stream_id,
          { type: 'SteerStream', act, ...momentOf(organisation_id, facts) },
          teamContext(organisation_id, facts),
        )
        if (!state.stream) throw notFound('outreach stream')
        return { status: 200, body: { data: shown(state.stream) } }
      },
    ),
  ]
}
