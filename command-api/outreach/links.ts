import type { Message } from '#domain/outreach/member.ts'
import type { OutreachStream } from '#domain/outreach/record.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { linkTokenOf, type LinkSubject } from '#infra/crypto/link-tokens.ts'

/** The public pages that messages link to. */
export const unsubscribeAddress = '/outreach/unsubscribe'
export const surveyAddress = '/outreach/survey'

type Deps = { readonly keys: Pick<Keys, 'links'>; readonly baseUrl: string }

/** The links of one person's message. */
export const makeLinks =
  ({ keys, baseUrl }: Deps) =>
  ({ organisation_id, id: stream_id, landing_url, survey }: OutreachStream, contact_id: string, message_id: string) => {
    const subject = { organisation_id, contact_id, stream_id, message_id }
    const token = (purpose: LinkSubject['purpose']) => linkTokenOf(keys, { purpose, ...subject })
    return {
      unsubscribe: `${baseUrl}${unsubscribeAddress}?t=${token('unsubscribe')}`,
      landing: landing_url === null ? null : withParameter(landing_url, 'ol', token('landing')),
      news: token('news'),
      survey: survey ? `${baseUrl}${surveyAddress}?t=${token('survey')}` : null,
    }
  }
export type Links = ReturnType<ReturnType<typeof makeLinks>>

const withParameter = (address: string, name: string, value: string): string => {
  const url = URL.parse(address)
  if (!url) return address
  url.searchParams.set(name, value)
  return url.href
}

/** The text as it is sent: with the firm's link, the survey's, and how to receive no more. */
export const sentText = ({ body }: Pick<Message, 'body'>, survey: OutreachStream['survey'], links: Links): string =>
  [
    body ?? '',
    ...(survey && links.survey ? [`${survey.question}\n${links.survey}`] : []),
    ...(links.landing ? [links.landing] : []),
    `To receive no more of these messages: ${links.unsubscribe}`,
  ].join('\n\n')
