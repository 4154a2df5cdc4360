import type { Question, ReleaseJourney, Stage } from '#domain/catalogue/events.ts'
import {
  presentationOf,
  presentationRecord,
  questionRecords,
  stageConfigs,
  type Presented,
  type StageConfig,
} from '#domain/catalogue/record.ts'
import { empty, label, link, pounds, section, value, words } from '../show.ts'
import { h, type View } from '../view.ts'

/** Fields that look as they do to a customer, and take nothing. */

const optional = (required: boolean): View => !required && h('span', { class: 'quiet' }, ' (optional)')

const lineOf = (type: Question['question_type']): View => {
  switch (type) {
    case 'date':
      return h('span', { class: 'sample' }, 'Day / Month / Year')
    case 'number':
    case 'integer':
      return h('span', { class: 'sample short' }, ' ')
    case 'string':
    case 'boolean':
    case 'enum':
    case 'multi_select':
    case 'derived':
      return h('span', { class: 'sample' }, ' ')
  }
}

const choicesIn = ({ question_type, answer_options }: Question): View => {
  const labels = question_type === 'boolean' ? ['Yes', 'No'] : answer_options.map((each) => each.label)
  const ending = new Map(answer_options.map((each) => [each.label, each.terminal_outcome]))
  return h(
    'ul',
    { class: question_type === 'multi_select' ? 'choices several' : 'choices' },
    labels.map((shown) => {
      const outcome = ending.get(shown)
      return h('li', {}, shown, outcome && h('span', { class: 'quiet' }, ` ends the application: ${words(outcome)}`))
    }),
  )
}

const isChosen = ({ question_type }: Question): boolean =>
  question_type === 'boolean' || question_type === 'enum' || question_type === 'multi_select'

const onlyIf = ({ ask_if }: Question, all: readonly Question[]): View => {
  if (!ask_if) return null
  const before = all.find(({ key }) => key === ask_if.key)
  const wanted = [ask_if.equals].flat().map((each) => {
    const option = before?.answer_options.find((one) => one.value === each)
    return option?.label ?? value(each)
  })
  return h(
    'p',
    { class: 'quiet small' },
    `Only asked if “${before?.label ?? ask_if.key}” is answered: ${wanted.join(' or ')}`,
  )
}

const questionView = (question: Question, all: readonly Question[]): View =>
  h(
    'li',
    {},
    h('p', {}, h('strong', {}, question.label), optional(question.required)),
    question.help_text !== null && h('p', { class: 'hint' }, question.help_text),
    isChosen(question) ? choicesIn(question) : lineOf(question.question_type),
    onlyIf(question, all),
  )

const questionsView = (asked: readonly Question[], all: readonly Question[]): View => {
  if (asked.length === 0) return empty('No question is asked here.')
  const groups = [...Map.groupBy(asked, ({ group_key, key }) => group_key ?? key).values()]
  return groups.map((group) => [
    group[0]?.group_label !== null && h('h3', {}, group[0]?.group_label),
    h(
      'ol',
      { class: 'questions' },
      group.map((question) => questionView(question, all)),
    ),
  ])
}

const askedIn = (
  { all_remaining, group_keys, question_keys }: StageConfig<'questions'>,
  all: readonly Question[],
  earlier: readonly Question[],
): readonly Question[] =>
  all.filter(
    (question) =>
      question.question_type !== 'derived' &&
      !earlier.includes(question) &&
      (all_remaining ||
        question_keys.includes(question.key) ||
        (question.group_key !== null && group_keys.includes(question.group_key))),
  )

type Details = { readonly fields: readonly string[]; readonly required_fields: readonly string[] }

const detailsView = ({ fields, required_fields }: Details): View =>
  h(
    'ol',
    { class: 'questions' },
    fields.map((field) =>
      h(
        'li',
        {},
        h(
          'p',
          {},
          h('strong', {}, field === 'dob' ? 'Date of birth' : label(field)),
          optional(required_fields.includes(field)),
        ),
        lineOf(field === 'dob' ? 'date' : 'string'),
      ),
    ),
  )

const coverView = ({ mode, amount, term, tiers, benefit_label }: StageConfig<'cover_capture'>): View => [
  mode === 'tiers' &&
    h(
      'ul',
      { class: 'choices' },
      tiers.map((tier) => h('li', {}, tier.label)),
    ),
  amount && [
    h('p', {}, h('strong', {}, benefit_label ?? 'How much should we pay out?')),
    h('p', { class: 'hint' }, `From ${pounds(amount.min_pence)} to ${pounds(amount.max_pence)}.`),
    h(
      'ul',
      { class: 'choices' },
      amount.presets_pence.map((preset) => h('li', {}, pounds(preset))),
    ),
  ],
  term && [
    h('p', {}, h('strong', {}, 'For how many years?')),
    h('p', { class: 'hint' }, `${term.min} to ${term.max} years.`),
  ],
]

const said = (...parts: readonly (string | null)[]): View =>
  parts.map((part) => part !== null && part !== '' && h('p', {}, part))

const choicesOf = (labels: readonly string[]): View =>
  labels.length > 0 &&
  h(
    'ul',
    { class: 'choices' },
    labels.map((shown) => h('li', {}, shown)),
  )

type Shown = { readonly all: readonly Question[]; readonly earlier: readonly Question[] }

/** A page of the journey, by the type of its stage. */
const stageView = ({ stage_type, config }: Stage, { all, earlier }: Shown): View => {
  switch (stage_type) {
    case 'soft_identity': {
      const details = stageConfigs.soft_identity.parse(config)
      return [said(details.intro), detailsView(details)]
    }
    case 'personal_details': {
      const details = stageConfigs.personal_details.parse(config)
      return [
        detailsView(details),
        choicesOf(details.consent_opt_outs.map((each) => each.label)),
        details.marketing_question && [
          said(details.marketing_question.label),
          choicesOf(details.marketing_question.channels.map(label)),
        ],
      ]
    }
    case 'partner_details':
      return detailsView(stageConfigs.partner_details.parse(config))
    case 'cover_capture':
      return coverView(stageConfigs.cover_capture.parse(config))
    case 'questions':
      return questionsView(askedIn(stageConfigs.questions.parse(config), all, earlier), all)
    case 'interstitial': {
      const { heading, body, choices } = stageConfigs.interstitial.parse(config)
      return [said(heading, body), choicesOf(choices.map((each) => each.label))]
    }
    case 'quote':
      return said(stageConfigs.quote.parse(config).label, 'The price, with what it is made of.')
    case 'market_quotes':
      return said(stageConfigs.market_quotes.parse(config).label, 'The prices of the market, to choose from.')
    case 'before_you_buy':
      return said(
        stageConfigs.before_you_buy.parse(config).heading,
        'Demands and needs, documents, and the confirmation.',
      )
    case 'payment':
      return choicesOf(stageConfigs.payment.parse(config).methods.map(label))
    case 'confirmation': {
      const { heading, body, next_steps } = stageConfigs.confirmation.parse(config)
      return [said(heading, body), choicesOf(next_steps)]
    }
    case 'handoff': {
      const { heading, body, phone } = stageConfigs.handoff.parse(config)
      return said(heading, body, phone)
    }
  }
}

const stagesView = (stages: readonly Stage[], all: readonly Question[]): View => {
  let earlier: readonly Question[] = []
  return stages.map((stage) => {
    const shown = stageView(stage, { all, earlier })
    if (stage.stage_type === 'questions')
      earlier = [...earlier, ...askedIn(stageConfigs.questions.parse(stage.config), all, earlier)]
    return h(
      'section',
      { class: 'stage', 'aria-label': `Page ${stage.position}: ${stage.title}` },
      h('p', { class: 'quiet small' }, `Page ${stage.position} · ${words(stage.stage_type)}`),
      h('h2', {}, stage.title),
      shown,
      stage.consent_notice !== undefined && h('p', { class: 'small' }, stage.consent_notice),
      stage.cta_label !== null && h('p', {}, h('span', { class: 'sample button' }, stage.cta_label)),
    )
  })
}

/** The pages of a journey in the order of one of its presentations; without any, its questions. */
export const presentationView = (release: Presented['release'], journey: ReleaseJourney, url: URL): View => {
  const all = questionRecords(journey.questions)
  const chosen = presentationOf(journey, url.searchParams.get('presentation') ?? undefined)
  const others = journey.presentations.map(({ slug, name }) =>
    h('li', {}, slug === chosen?.slug ? h('strong', {}, name) : link(`${url.pathname}?presentation=${slug}`, name)),
  )
  if (!chosen)
    return section(
      'Questions',
      questionsView(
        all.filter((each) => each.question_type !== 'derived'),
        all,
      ),
    )
  const { stages } = presentationRecord(chosen, { release, journey })
  return [others.length > 1 && section('Presentations', h('ul', {}, others)), stagesView(stages, all)]
}
