import { h, type View } from '../view.ts'
import { z } from 'zod'
import { ApplicationStatus, TeamApplication, type ApplicationRecord } from '#domain/applications/record.ts'
import { act, choicesOf, type Act, type Field } from '../act.ts'
import { idAsName, type List } from '../list.ts'
import { pageOf, type Page } from '../page.ts'
import {
  badge,
  day,
  empty,
  facts,
  link,
  moment,
  money,
  section,
  reference,
  table,
  text,
  words,
  type Tone,
  nameOf,
} from '../show.ts'
import { pastForm } from '../moments.ts'
import { happened } from '../timeline.ts'
import { answerText, questionsOf, questionText, reasonsOf, type Questions } from './questions.ts'
import { productNames } from './product-names.ts'
import { quotesOf } from './quotes.ts'

const tones: Readonly<Record<string, Tone>> = {
  referred: 'wait',
  postponed: 'wait',
  bound: 'good',
  quoted: 'calm',
  declined: 'bad',
}

const applicantOf = ({ customer, soft_customer }: Pick<ApplicationRecord, 'customer' | 'soft_customer'>): string =>
  nameOf(customer ?? soft_customer)

export const applications: List<typeof TeamApplication> = {
  title: 'Applications',
  path: 'applications',
  api: '/admin/v1/team_applications',
  item: TeamApplication,
  names: productNames,
  filters: [{ name: 'status', label: 'Status', choices: choicesOf(ApplicationStatus.options) }],
  none: 'Nobody has applied yet. Applications are started by the firm’s page, by POST /api/v1/applications.',
  work: { referred_applications: 'referred' },
  columns: (organisation_id, nameOfProduct = idAsName) => [
    {
      title: 'Person',
      show: (application) =>
        link(pageOf(organisation_id, `applications/${application.id}`), applicantOf(application) || 'Nobody named yet'),
    },
    { title: 'Reference', show: ({ id }) => reference(id) },
    { title: 'Product', show: ({ product_id }) => nameOfProduct(product_id) },
    { title: 'Status', show: ({ status }) => badge(status, tones[status]) },
    { title: 'Cover', show: ({ cover_amount_pence }) => money(cover_amount_pence), isNumber: true },
    {
      title: 'Because',
      show: ({ decisions }) => text(decisions.at(-1)?.reason_message ?? decisions.at(-1)?.reason_code),
    },
    { title: 'Started', show: ({ created_at }) => moment(created_at) },
    { title: 'Changed', show: ({ updated_at }) => moment(updated_at) },
  ],
}

const message: Field = {
  name: 'reason_message',
  label: 'What the customer reads',
  kind: 'lines',
  hint: 'Left empty, they are told the decision alone.',
}

/** The reasons that the set-up has are offered; any other code may be typed. */
const whyOf = (questions: Questions): readonly Field[] => {
  const suggests = reasonsOf(questions)
  const hint =
    suggests.length === 0
      ? 'For the firm’s own records. It may be left empty.'
      : 'For the firm’s own records. It may be left empty, typed, or chosen from the codes of the set-up.'
  return [{ name: 'reason_code', label: 'Reason code', kind: 'text', hint, suggests }, message]
}

/** The decisions that an underwriter may make about an application as it stands. */
const actsOf = ({ id, status }: ApplicationRecord, questions: Questions): readonly Act[] => {
  const why = whyOf(questions)
  const to = { method: 'POST', address: `/admin/v1/team_applications/${id}/decisions` } as const
  const withTheTeam: readonly Act[] = [
    {
      ...to,
      title: 'Accept',
      sends: { decision: 'accept' },
      fields: [message],
      ask: 'The customer gets a price on the standard terms, and can buy.',
    },
    {
      ...to,
      title: 'Accept with a loading',
      sends: { decision: 'accept', 'loadings.0.basis': 'percent' },
      fields: [
        { name: 'loadings.0.code', label: 'Code', kind: 'text', isRequired: true },
        { name: 'loadings.0.label', label: 'What it is for', kind: 'text', isRequired: true },
        {
          name: 'loadings.0.value',
          label: 'Per cent on top',
          kind: 'text',
          hint: 'A whole number, such as 50.',
          isRequired: true,
        },
        message,
      ],
      ask: 'The customer gets a price with this loading, and can buy.',
    },
    {
      ...to,
      title: 'Decline',
      sends: { decision: 'decline' },
      fields: why,
      tone: 'danger',
      ask: 'The application ends, and the customer is told.',
    },
    {
      ...to,
      title: 'Postpone',
      sends: { decision: 'postpone' },
      fields: [{ name: 'until', label: 'Can be opened again from', kind: 'date' }, ...why],
      ask: 'The application rests until it is opened again.',
    },
    { ...to, title: 'Give back to the customer', sends: { decision: 'give_back' }, fields: [message] },
  ]
  switch (status) {
    case 'referred':
      return withTheTeam
    case 'postponed':
      return [{ ...to, title: 'Open again', sends: { decision: 'reopen' }, fields: [message] }]
    case 'started':
    case 'anonymous':
    case 'in_capture':
    case 'quoted':
      return [
        {
          ...to,
          title: 'Withdraw',
          sends: { decision: 'withdraw' },
          tone: 'danger',
          ask: 'The application ends, as the customer has asked for.',
        },
      ]
    case 'bound':
    case 'declined':
    case 'abandoned':
    case 'handed_off':
      return []
  }
}

const answers = ({ risk_factors }: ApplicationRecord, questions: Questions): View => {
  const given = Object.entries(risk_factors)
  return section(
    'What the customer said',
    given.length === 0
      ? empty('Nothing is answered yet.')
      : facts(given.map(([key, value]) => [questionText(questions, key), answerText(questions, key, value)] as const)),
  )
}

const decided = ({ decisions }: ApplicationRecord): View =>
  decisions.length > 0 &&
  section(
    'Decisions',
    table(
      'Decisions',
      [
        { title: 'Outcome', show: ({ outcome }) => badge(outcome, tones[outcome]) },
        { title: 'By', show: ({ cause }) => words(cause) },
        { title: 'Because', show: ({ reason_message, reason_code }) => text(reason_message ?? reason_code) },
        { title: 'When', show: ({ decided_at }) => moment(decided_at) },
      ],
      decisions.toReversed(),
    ),
  )

/** One application: what the customer said, what was decided, and what can be. */
export const applicationPage: Page = {
  address: '/console/organisations/:organisation_id/applications/:id',
  show: async (asked) => {
    const { me, organisation, path, url, read, now, past } = asked
    const id = path['id'] ?? ''
    const address = `/admin/v1/team_applications/${id}`
    const of = `organisation_id=${organisation?.id ?? ''}`
    const [{ data: application }, moments, events, quotes, nameOfProduct] = await Promise.all([
      read(`${address}?${of}`, z.object({ data: TeamApplication })),
      pastForm(asked, `application-${id}`),
      happened({ now, url }, `${address}/timeline`, { organisation_id: organisation?.id ?? '' }),
      quotesOf({ me, organisation, now }, id),
      productNames(asked),
    ])
    const questions = await questionsOf(asked, application)
    const acts = me.roles.includes('underwriting') && !past ? actsOf(application, questions) : []
    return {
      title: applicantOf(application) || `Application ${reference(application.id)}`,
      about: `application ${reference(application.id)}`,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          moments,
          facts([
            ['Status', badge(application.status, tones[application.status])],
            ['Product', nameOfProduct(application.product_id)],
            ['Cover', money(application.cover_amount_pence)],
            ['Term', application.term_years === null ? text(null) : `${application.term_years} years`],
            ['Email', text(application.customer?.email ?? application.soft_customer?.email)],
            ['Born', day(application.customer?.dob ?? application.soft_customer?.dob)],
            ['Started', moment(application.created_at)],
            ['Reference', [reference(application.id), ' ', h('code', {}, application.id)]],
          ]),
          answers(application, questions),
          quotes,
          decided(application),
        ),
        h('div', {}, acts.length > 0 && section('Decide', ...acts.map(act)), events),
      ),
    }
  },
}
