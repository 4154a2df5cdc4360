import { randomBytes } from 'node:crypto'
import { demoOrganisation, idOf, operatorAddress, type Callers, type Example, type Examples } from './requests.ts'

/** Outreach streams of the demo organisation: one that runs, and some to be steered. */
export const prepareOutreach = async ({ operator }: Callers): Promise<Examples> => {
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

  const inOrganisation = (path: Readonly<Record<string, string>> = {}, body?: object): Example => ({
    path: { organisation_id: demoOrganisation, ...path },
    ...(body && { body }),
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
    getOrganisationOutreachStreamMembers: ofStream(running),
    getOrganisationOutreachStreamMessages: ofStream(running),
    getOrganisationOutreachStreamCosts: ofStream(running),
  }
}
