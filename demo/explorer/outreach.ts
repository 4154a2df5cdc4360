import { randomBytes } from 'node:crypto'
import {
  idOf,
  inOrganisation,
  listOf,
  operatorAddress,
  sendLead,
  textOf,
  until,
  type Callers,
  type Examples,
} from './requests.ts'

/** Outreach streams of the demo organisation: one that runs, and some to be steered. */
export const prepareOutreach = async (callers: Callers): Promise<Examples> => {
  const { operator } = callers
  const added = randomBytes(4).toString('hex')
  const stream = (name: string) => ({
    slug: `explorer-${added}-${name}`,
    kind: 'mailshot',
    name: 'A letter from the explorer',
    purpose: 'service',
    texts: [{ subject: 'About your policy', body: 'Hello {{first_name}}, your policy document is ready.' }],
  })
  const streams = `${operatorAddress}/outreach_streams`
  const created = async (name: string) => idOf(await operator('POST', streams, stream(name)))
  const [running, toChange, toStart] = await Promise.all(['running', 'change', 'start'].map(created))
  await operator('POST', `${streams}/${running}/acts`, { act: 'start' })

  const lead = async () => {
    const identity = { email: `outreach.${added}@example.com`, first_name: 'Ann', match_on_details: true }
    const consent = { method: 'the explorer', service: { email: true } }
    return textOf(await sendLead(callers, { identity, consent }), 'contact_id')
  }
  const contact_id = await lead()
  await operator('POST', `${streams}/${running}/members`, { people: [{ contact_id }] })
  const message_id = await until(async () => {
    const [message] = listOf(await operator('GET', `${streams}/${running}/messages`))
    return message && textOf(message, 'id')
  })

  const ofStream = (stream_id: string | undefined, body?: object) =>
    inOrganisation({ stream_id: stream_id ?? '' }, body)
  return {
    getOutreachStream: { path: { id: running ?? '' } },
    getOrganisationOutreach: inOrganisation(),
    patchOrganisationOutreach: inOrganisation({}, { exchange_rates: [{ day: '2026-02-01', usd_rate: '0.79' }] }),
    getOrganisationOutreachStreams: inOrganisation(),
    postOrganisationOutreachStreams: inOrganisation({}, stream('new')),
    getOrganisationOutreachStream: ofStream(running),
    patchOrganisationOutreachStream: ofStream(toChange, { pace_per_hour: 100 }),
    postOrganisationOutreachStreamActs: ofStream(toStart, { act: 'start' }),
    getOrganisationOutreachOutbox: inOrganisation(),
    getOrganisationMessageNews: inOrganisation(),
    postOrganisationOutreachStreamMembers: ofStream(running, { people: [{ contact_id }] }),
    postOrganisationOutreachStreamMemberMessageActs: inOrganisation(
      { stream_id: running ?? '', contact_id, message_id },
      { act: 'approve' },
    ),
    getOrganisationOutreachStreamMembers: ofStream(running),
    getOrganisationOutreachStreamMessages: ofStream(running),
    getOrganisationOutreachStreamCosts: ofStream(running),
  }
}
