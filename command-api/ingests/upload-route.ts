import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { timeZoneOf } from '#domain/access/record.ts'
import { CampaignKey } from '#domain/campaigns/events.ts'
import type { IngestContent } from '#domain/ingests/events.ts'
import { sentFields } from '#domain/ingests/fields.ts'
import { ingest, isIngest } from '#domain/ingests/ingest.ts'
import { unmetRules } from '#domain/ingests/rules.ts'
import { dateIn } from '#domain/time-zone.ts'
import { IngestId, OrganisationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import { derivedId } from '#infra/ids.ts'
import { makeRequirements } from './requirements.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { teamContext, teamRoute, type Organisations } from '../operator.ts'
import { RowFault, UploadedRows, UploadName, type UploadedRow } from '../uploaded-rows.ts'
import { formatsOn, refusedDetails, tidyDetails } from './tidy.ts'
import { realTime } from '#infra/clock.ts'

type Deps = {
  readonly writer: Writer
  readonly directory: Organisations
}

const Rows = z.object({
  upload: UploadName.describe('Names the file: a row of it is taken in once, however often it is sent.'),
  campaign: CampaignKey.nullish(),
  dry_run: z
    .boolean()
    .default(false)
    .describe(
      'Only says which rows could not be taken in, would be held, or lose a detail of the person that cannot be read.',
    ),
  rows: UploadedRows,
})

const Result = z.object({
  data: z.object({
    taken: z.int().describe('Rows that were taken in now; in a dry run, that would be.'),
    known: z.int().describe('Rows that were taken in before.'),
    held: z
      .int()
      .describe('In a dry run: of those that would be taken in, the ones that the team would have to accept.'),
    waits: z.boolean().describe('None of what was taken in has had its turn to be processed within some seconds.'),
    faults: z.array(RowFault),
  }),
})

const waitsAtMostMs = 10_000
const looksAgainMs = 40

/** Takes in rows of a file of leads, as the source `upload`. */
export const uploadRoute = ({ writer, directory }: Deps): Route => {
  const { handle, load } = commandHandler(writer, ingest)
  const { requirementsOf } = makeRequirements(writer)

  /**
   * Leads of an organisation are processed in the order in which they came. Whoever sends a file waits until it is the turn
   * of what was sent, so that what else comes in for the organisation never stands behind a whole file. False: it is not its
   * turn yet.
   */
  const hasTurn = async (ingest_id: IngestId): Promise<boolean> => {
    const until = performance.now() + waitsAtMostMs
    for (let state = await load(ingest_id); performance.now() < until; state = await load(ingest_id)) {
      if (!isIngest(state) || state.record.status !== 'received') return true
      await pause(looksAgainMs)
    }
    return false
  }

  return route(
    {
      ...teamRoute('leads'),
      method: 'post',
      address: '/admin/v1/organisations/:organisation_id/uploaded_leads',
      summary: 'Take in rows of a file of leads; npm run leads -- import sends a whole file',
      path: z.object({ organisation_id: OrganisationId }),
      body: Rows,
      answers: { 200: Result },
    },
    async ({ path: { organisation_id }, body: { upload, campaign: key, dry_run, rows }, ...facts }) => {
      const { campaign, intake } = await requirementsOf(organisation_id, key)
      if (key && !campaign) throw unusable('is not the key of a campaign')
      if (campaign && campaign.state !== 'active') throw unusable(`is ${campaign.state}`)
      const time_zone = timeZoneOf(directory.organisations, organisation_id)
      const today = dateIn(time_zone, facts.now)
      const reader = { today, time_zone }
      const rules = [...(campaign?.rules ?? []), ...intake.rules]
      const context = teamContext(organisation_id, facts)

      const faults: RowFault[] = []
      let [taken, known, held] = [0, 0, 0]
      let first: IngestId | undefined
      const takeIn = async ({ line, fields }: UploadedRow) => {
        const content = contentOf(fields)
        if (!content) {
          faults.push({ line, field: null, reason: 'is empty' })
          return
        }
        const fieldNames = campaign?.field_names ?? {}
        const sent = sentFields(content, fieldNames)
        const { refused } = tidyDetails(sent, reader)
        const facts = { fields: sent, refused, consent: null, fieldNames, formats: formatsOn(reader), today }
        // What is held is decided when it is resolved: here it can only be foretold.
        const unmet = dry_run ? unmetRules(rules, facts) : []
        for (const { field, reason } of unmet) faults.push({ line, field, reason: reason ?? 'does not meet the rules' })
        for (const { field, reason } of refusedDetails(sent, refused))
          if (!unmet.some((each) => each.field === field))
            faults.push({ line, field, reason: `is left out: ${reason}` })
        if (dry_run) {
          if (sent.details.size === 0) faults.push({ line, field: null, reason: 'says of nobody who they are' })
          else {
            taken++
            if (unmet.length > 0) held++
          }
          return
        }
        const ingest_id = IngestId.parse(derivedId('upload', organisation_id, upload, String(line)))
        const { events } = await handle(
          ingest_id,
          {
            type: 'ReceiveIngest',
            ingest_id,
            organisation_id,
            api_application_id: null,
            source: 'upload',
            source_reference: `line ${line}`,
            campaign: campaign ? { id: campaign.id, key: campaign.key } : null,
            happened_at: null,
            accepted_at: realTime().toISOString(),
            content,
          },
          context,
        )
        if (events.length === 0) known++
        else {
          taken++
          first ??= ingest_id
        }
      }
      await Promise.all(rows.map(takeIn))
      const waits = first !== undefined && !(await hasTurn(first))
      faults.sort((one, other) => one.line - other.line)
      return { status: 200, body: { data: { taken, known, held, waits, faults } } }
    },
  )
}

const contentOf = (fields: Readonly<Record<string, string>>): IngestContent | undefined => {
  const data = Object.fromEntries(Object.entries(fields).filter(([, value]) => value.trim() !== ''))
  if (Object.keys(data).length === 0) return undefined
  return { identity: null, data, text: null, declared: null, consent: null, provenance: null }
}

const unusable = (reason: string) =>
  new Problem('validation_failed', `Correct campaign: it ${reason}.`, { fields: { campaign: reason } })
