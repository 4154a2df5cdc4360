import type { ConsentEntry } from '#domain/customers/events.ts'
import { Rejection } from '#domain/rejection.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { linkSubjectOf, type LinkSubject } from '#infra/crypto/link-tokens.ts'
import { FileBody, route, type RequestFacts, type Route } from '#infra/http/route.ts'
import type { Context } from '../writing/handle.ts'
import { answered, escaped, form, publicPage } from '../public-page.ts'
import { surveyAddress, unsubscribeAddress } from './links.ts'
import type { OutreachPeople } from './people.ts'
import type { LiveOutreach, Organisations } from './streams.ts'

/** Withdraws consent by a link, recorded in the person's own record. */
export type Withdraw = (
  organisation_id: OrganisationId,
  contact_id: CustomerId,
  said: { readonly entries: ConsentEntry[]; readonly said_at: string; readonly message_id: string },
  context: Context,
) => Promise<unknown>

type Deps = {
  readonly keys: Pick<Keys, 'links'>
  readonly people: OutreachPeople
  readonly live: LiveOutreach
  readonly organisations: Organisations
  readonly withdraw: Withdraw
}

/** Nothing is recorded any more of somebody who was erased; the holder of the link reads the same as always. */
const unlessErased = async (work: Promise<unknown>): Promise<void> => {
  try {
    await work
  } catch (error) {
    if (!isAboutErased(error)) throw error
  }
}

const unknownLink = () =>
  answered('This link does not work', '<p>Use the whole link of the message that you received.</p>')

const page = { ...publicPage, tag: 'Outreach' } as const

/** The pages that messages link to. Nobody signs in: the token of the link says whom it is about. */
export const outreachPages = ({ keys, people, live, organisations, withdraw }: Deps): Route[] => {
  const found = (purpose: LinkSubject['purpose'], token: string | undefined) => {
    const subject = token === undefined ? undefined : linkSubjectOf(keys, purpose, token)
    const stream = subject && live.streams.get(subject.stream_id)
    if (!stream || stream.organisation_id !== subject.organisation_id) return undefined
    const contact_id = CustomerId.safeParse(subject.contact_id).data
    const organisation_id = OrganisationId.safeParse(subject.organisation_id).data
    const firm = organisations.get(stream.organisation_id)?.name ?? 'the firm'
    return contact_id && organisation_id
      ? { stream, contact_id, organisation_id, firm, message_id: subject.message_id }
      : undefined
  }

  const contextOf = (
    organisation_id: OrganisationId,
    { request_id, now }: Pick<RequestFacts, 'request_id' | 'now'>,
  ): Context => ({
    organisation_id,
    actor: { type: 'system', id: 'link' },
    correlation_id: request_id,
    now,
  })

  return [
    route(
      {
        ...page,
        method: 'get',
        address: unsubscribeAddress,
        summary: 'The page on which a person withdraws consent. Looking at it changes nothing: programs look, too',
        answers: { 200: FileBody },
      },
      async ({ query: { t } }) => {
        const link = found('unsubscribe', t)
        if (!link) return unknownLink()
        return answered(
          'No more messages',
          `<p>${escaped(link.firm)} will send you no more messages of this kind.</p>
<form method="post" action="${unsubscribeAddress}?t=${escaped(t ?? '')}"><button>Unsubscribe</button></form>`,
        )
      },
    ),
    route(
      {
        ...page,
        method: 'post',
        address: unsubscribeAddress,
        summary: 'Withdraw consent, in one step (RFC 8058): on every channel, for what the message was sent for',
        textBody: form,
        answers: { 200: FileBody },
      },
      async ({ query: { t }, ...facts }) => {
        const link = found('unsubscribe', t)
        if (!link) return unknownLink()
        const { organisation_id, contact_id, message_id, stream, firm } = link
        const entries = (['email', 'sms', 'whatsapp'] as const).map((channel): ConsentEntry => ({
          purpose: stream.purpose,
          channel,
          state: 'withdrawn',
          basis: 'consent',
        }))
        const said = { entries, said_at: facts.now, message_id }
        await unlessErased(withdraw(organisation_id, contact_id, said, contextOf(organisation_id, facts)))
        return answered('Done', `<p>${escaped(firm)} sends you no more messages of this kind.</p>`)
      },
    ),
    route(
      {
        ...page,
        method: 'get',
        address: surveyAddress,
        summary: 'The page on which a person answers a survey',
        answers: { 200: FileBody },
      },
      async ({ query: { t } }) => {
        const survey = found('survey', t)?.stream.survey
        if (!survey) return unknownLink()
        const { question, answer_type, follow_up_question } = survey
        const input = {
          nps: '<input name="answer" type="number" min="0" max="10" required>',
          rating: '<input name="answer" type="number" min="1" max="5" required>',
          yes_no: '<select name="answer"><option>yes</option><option>no</option></select>',
          text: '<textarea name="answer" maxlength="2000" required></textarea>',
        }[answer_type]
        const more =
          follow_up_question === null
            ? ''
            : `<p><label>${escaped(follow_up_question)}<br><textarea name="follow_up_answer" maxlength="2000"></textarea></label></p>`
        return answered(
          'One question',
          `<form method="post" action="${surveyAddress}?t=${escaped(t ?? '')}">
<p><label>${escaped(question)}<br>${input}</label></p>${more}<button>Send</button></form>`,
        )
      },
    ),
    route(
      {
        ...page,
        method: 'post',
        address: surveyAddress,
        summary: 'Answer a survey. A later answer replaces the earlier one',
        textBody: form,
        answers: { 200: FileBody },
      },
      async ({ query: { t }, text, ...facts }) => {
        const link = found('survey', t)
        if (!link) return unknownLink()
        const { organisation_id, contact_id, stream } = link
        const sent = new URLSearchParams(text ?? '')
        const answer = (sent.get('answer') ?? '').replaceAll('\0', '').trim().slice(0, 2_000)
        const follow_up_answer =
          (sent.get('follow_up_answer') ?? '').replaceAll('\0', '').trim().slice(0, 2_000) || null
        const command = { type: 'AnswerSurvey', stream, answer, follow_up_answer } as const
        try {
          await unlessErased(people.handle(contact_id, command, contextOf(organisation_id, facts)))
        } catch (error) {
          if (!(error instanceof Rejection)) throw error
          return answered('Please try again', `<p>${escaped(error.message)}</p>`)
        }
        return answered('Thank you', '<p>Your answer was received.</p>')
      },
    ),
  ]
}
