import { z } from 'zod'
import type { CampaignState } from '#domain/campaigns/events.ts'
import { canonicalJson } from '#domain/canonical-json.ts'
import { IngestContent } from '#domain/ingests/events.ts'
import { ingest, isIngest, type IngestState } from '#domain/ingests/ingest.ts'
import { Ingest, renderIngest, type IngestRecord } from '#domain/ingests/record.ts'
import { notFound, Rejection } from '#domain/rejection.ts'
import { IngestId, type OrganisationId } from '#domain/values.ts'
import type { DataKeys } from '#infra/crypto/data-keys.ts'
import { subjectOfStream } from '#infra/crypto/subjects.ts'
import { route, type Route } from '#infra/http/route.ts'
import { newId } from '#infra/ids.ts'
import { makeRequirements } from './requirements.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import { tooManyAtOnce } from '../writing/writer.ts'
import { keyInHeader } from '../idempotency-key.ts'
import { ingestIdOfKey } from './ids.ts'
import { contentOf, IngestInput } from './inputs.ts'
import type { ClaimContent, FindContent, ReleaseContent, SentContent } from './recent-content.ts'
import { realNow } from '#infra/clock.ts'

type Deps = {
  readonly writer: Writer
  readonly dataKeys: Pick<DataKeys, 'digest' | 'of' | 'discard'>
  readonly claimContent: ClaimContent
  readonly findContent: FindContent
  readonly releaseContent: ReleaseContent
  readonly baseUrl: string
  /** Real time, in which a retry is told from a new lead. */
  readonly realTime?: () => number
}

const Sent = z.object({
  data: Ingest.extend({
    duplicate: z.boolean().describe('It is a lead that was received before, whose first answer this is.'),
  }).meta({ id: 'SentIngest' }),
})

/** Another one is needed only where a key is used for two contents at the same moment. */
const mostAttempts = 3

const replayMs = 10 * 60_000

/** Takes a lead in. All that costs time is done behind it. */
export const receiveRoute = (deps: Deps): Route => {
  const { writer, dataKeys, claimContent, findContent, releaseContent, baseUrl, realTime = realNow } = deps
  const { handle, load, streamOf } = commandHandler(writer, ingest)
  const requirements = makeRequirements(writer)

  /** The lead that a key stands for; undefined when it has not been used. */
  const findByKey = async (id: IngestId): Promise<IngestState | undefined> => {
    const state = await load(id)
    if (state === undefined || isIngest(state)) return state
    const first = await load(state.first_ingest_id)
    return isIngest(first) ? first : undefined
  }

  const answer = ({ record, accepted_at }: IngestState, duplicate: boolean) => ({
    status: 202 as const,
    headers: {
      Location: `${baseUrl}/api/v1/crm/ingests/${record.id}`,
      ...(duplicate && realTime() - Date.parse(accepted_at) < replayMs && { 'Idempotent-Replay': 'true' }),
    },
    body: { data: { ...renderIngest(asReceived(record)), duplicate } },
  })

  /**
   * Claims the content and makes the data key of the ingest at the same time, so that a lead is answered sooner. The key of a
   * repeat is discarded: nobody else knows an id that was just made.
   */
  const claimWithKey = async (organisation_id: OrganisationId, own: SentContent): Promise<IngestId> => {
    const subject = { organisation_id, subject: subjectOfStream(streamOf(own.ingest_id), null) }
    const [ingest_id] = await Promise.all([claimContent(own), dataKeys.of(subject)])
    if (ingest_id !== own.ingest_id) await dataKeys.discard(subject)
    return ingest_id
  }

  const campaignOf = async (organisation_id: OrganisationId, key: string | null | undefined) => {
    if (key === null || key === undefined) return null
    const found = await requirements.campaignOf(organisation_id, key)
    if (!found)
      throw new Rejection('unknown_campaign', 'There is no campaign with this key. Check campaign.', {
        campaign: 'there is none with this key',
      })
    return found
  }

  /** The lead that this is a retry of: what was received while its campaign was active stays received. */
  const receivedBefore = async (own: SentContent, sent: SentLead): Promise<IngestState | undefined> => {
    const id = await findContent(own)
    const state = id && (await findByKey(id))
    return state && isOf(state, sent) ? state : undefined
  }

  return route(
    {
      method: 'post',
      address: '/api/v1/crm/ingests',
      tag: 'Leads',
      summary: 'Send a lead. It is processed in the background: read what became of it at its Location',
      access: { kind: 'application', scopes: [['write', 'crm']], serverOnly: true },
      headers: { 'Idempotency-Key': 'Stands for one lead for ever, however often it is sent.' },
      body: IngestInput,
      asGiven: ['data', 'declared'],
      example: {
        body: {
          source: 'website',
          campaign: 'life-spring',
          identity: { email: 'ada@example.com', phone: '0113 496 0100', first_name: 'Ada', last_name: 'Finch' },
          data: { DateOfBirth: '14/03/1988', Postcode: 'LS1 4AP', product_interest: 'life', cover_amount: 250000 },
          text: 'Please call me after 5 pm.',
          consent: { method: 'checkbox', service: { phone: true }, first_party_marketing: { email: true, sms: false } },
        },
      },
      answers: { 202: Sent },
      errors: ['campaign_paused', 'campaign_archived', 'unknown_campaign'],
    },
    async ({ body, numbers, caller, request_id, now, header }) => {
      const { organisation_id, api_application_id } = caller
      const content = contentOf(body, numbers)
      if (!content)
        throw new Rejection('validation_failed', 'There is nothing to go on. Send identity, data, text or declared.')
      const key = keyInHeader({ header })
      const idOfKey = key === undefined ? undefined : ingestIdOfKey(api_application_id, key)
      const known = idOfKey && (await findByKey(idOfKey))
      if (known) return answer(known, true)

      const { source, source_reference, occurred_at } = body
      const found = await campaignOf(organisation_id, body.campaign)
      const campaign = found && { id: found.id, key: found.key }
      const context: Context = {
        organisation_id,
        actor: { type: 'api', id: api_application_id },
        correlation_id: request_id,
        now,
        isShownLater: true,
      }
      const sent = { source, source_reference: source_reference ?? null, campaign, content }
      const own = {
        api_application_id,
        digest: (await dataKeys.digest(organisation_id, 'ingest content', sentContent(sent))).toString('base64'),
        ingest_id: idOfKey ?? IngestId.parse(newId()),
      }
      if (found && found.state !== 'active') {
        const before = await receivedBefore(own, sent)
        if (!before) throw closed(found.state)
        if (idOfKey) await handle(idOfKey, { type: 'UseKeyFor', first_ingest_id: before.record.id }, context)
        return answer(before, true)
      }
      for (let attempt = 1; attempt <= mostAttempts; attempt++) {
        const ingest_id = attempt === 1 && !idOfKey ? await claimWithKey(organisation_id, own) : await claimContent(own)
        const received = await handle(
          ingest_id,
          {
            type: 'ReceiveIngest',
            ingest_id,
            organisation_id,
            api_application_id,
            ...sent,
            happened_at: occurred_at ?? null,
            accepted_at: new Date(realTime()).toISOString(),
          },
          context,
        )
        const isFirst = received.events.length > 0
        const state = isIngest(received.state) ? received.state : await findByKey(ingest_id)
        if (!state) throw notFound('ingest')
        const isSame = isFirst || isOf(state, sent)
        // The key was used for another content at the same moment: what was sent here has not been received.
        if (!isSame) await releaseContent({ ...own, ingest_id })
        if (!isSame && ingest_id !== own.ingest_id) continue
        if (idOfKey && idOfKey !== ingest_id)
          await handle(idOfKey, { type: 'UseKeyFor', first_ingest_id: ingest_id }, context)
        return answer(state, !isFirst)
      }
      throw tooManyAtOnce()
    },
  )
}

type SentLead = Pick<IngestRecord, 'source' | 'source_reference' | 'campaign'> & { readonly content: IngestContent }

/** The content by which a lead is recognised when it is sent again. */
const sentContent = ({ source, source_reference, campaign, content }: SentLead): string => {
  const { identity, data, text, declared, consent, numbers } = content
  const parts = [source, source_reference, campaign?.key ?? null, identity, data, text, declared, consent]
  return canonicalJson(numbers ? [...parts, numbers] : parts)
}

/** True where this lead was received, as far as it was stored. */
const isOf = ({ record, content }: IngestState, sent: SentLead): boolean =>
  sentContent({ ...record, content }) === sentContent({ ...sent, content: IngestContent.parse(sent.content) }) ||
  sentContent({ ...record, content }) === sentContent(sent)

const closed = (state: Exclude<CampaignState, 'active'>): Rejection => {
  switch (state) {
    case 'paused':
      return new Rejection('campaign_paused', 'The campaign is paused. Send the lead again when it is active.')
    case 'archived':
      return new Rejection('campaign_archived', 'The campaign is archived. Send the lead again when it is active.')
  }
}

/** As it was when it was sent: what became of it since is read at its address. */
const asReceived = (record: IngestRecord): IngestRecord => ({
  ...record,
  status: 'received',
  processed_at: null,
  contact_id: null,
  facts_written: 0,
  fields_proposed: 0,
  activities_written: 0,
  truncated: false,
  retry_after: null,
  error: null,
  failures: [],
})
