import { amountLabel, termLabel } from './capture-stages.ts'
import { detailsOf } from './details-stages.ts'
import { h, pounds } from './elements.ts'
import { answerText, isAsked, questionsOf } from './questions.ts'
import type { Answer, Question, Stage } from './records.ts'
import { unitsOf, type Units } from './units.ts'
import type { MakeScreen, Visit } from './visit.ts'

const stage_type = 'check_answers'

const check: Stage = { key: stage_type, stage_type, title: 'Check your answers', cta_label: null, config: {} }

/** The stages of a journey, with one to check all answers before the price that rests on them. */
export const withCheck = (stages: readonly Stage[]): readonly Stage[] => {
  const priced = stages.findIndex((each) => each.stage_type === 'quote' || each.stage_type === 'market_quotes')
  return priced < 1 ? stages : stages.toSpliced(priced, 0, check)
}

export const isCheck = (stage: Stage): boolean => stage.stage_type === stage_type

type Row = {
  /** The name of its input. */
  readonly name: string
  readonly label: string
  /** Undefined: not answered yet. */
  readonly answer: string | undefined
  readonly isRequired: boolean
}

const coverRows = ({ application, level }: Visit, { config }: Stage): readonly Row[] => {
  const { cover_amount_pence, term_years } = application
  const { mode, benefit_label, term, tiers } = config as {
    readonly mode: string
    readonly benefit_label?: string | null
    readonly term?: object | null
    readonly tiers?: readonly { readonly cover_amount_pence: number; readonly label: string }[]
  }
  if (mode === 'members')
    return [{ name: 'level', label: 'Level', answer: level ?? 'The one that you have chosen', isRequired: true }]
  const tier = tiers?.find((each) => each.cover_amount_pence === cover_amount_pence)
  const amount = cover_amount_pence === null ? undefined : pounds(cover_amount_pence)
  return [
    {
      name: 'cover_amount_pence',
      label: benefit_label ?? amountLabel,
      answer: tier?.label ?? amount,
      isRequired: true,
    },
    ...(term
      ? [
          {
            name: 'term_years',
            label: termLabel,
            answer: term_years === null ? undefined : `${term_years} years`,
            isRequired: true,
          },
        ]
      : []),
  ]
}

const questionRows = (
  questions: readonly Question[],
  answers: Readonly<Record<string, Answer | undefined>>,
  units: Units,
): readonly Row[] =>
  questions
    .filter((question) => isAsked(question, answers))
    .map((question) => ({
      name: question.key,
      label: question.label,
      answer: answerText(question, answers[question.key], units[question.key]),
      isRequired: question.required,
    }))

/** The second person's answers are known only to the tab in which they were given: the service does not show them again. */
const partnerRows = (visit: Visit, { config }: Stage): readonly Row[] => {
  const { joint_customer, risk_factors } = visit.application
  const { question_keys, ask_if } = config as {
    readonly question_keys: readonly string[]
    readonly ask_if: Question['ask_if'] | null
  }
  if (ask_if && !isAsked({ ask_if }, risk_factors)) return []
  const asked = visit.questions.filter(({ key }) => question_keys.includes(key))
  const kept = { name: 'first_name', label: 'Their answers', answer: 'Given, and not shown again', isRequired: true }
  return [
    ...detailsOf(config, joint_customer),
    ...(joint_customer === null || asked.length === 0
      ? []
      : visit.partnerAnswers
        ? questionRows(asked, { ...risk_factors, ...visit.partnerAnswers }, unitsOf(visit.stages))
        : [kept]),
  ]
}

const rowsOf = (visit: Visit, stage: Stage): readonly Row[] => {
  const { customer, risk_factors } = visit.application
  if (stage.stage_type === 'cover_capture') return coverRows(visit, stage)
  if (stage.stage_type === 'questions')
    return questionRows(questionsOf(stage, visit.questions), risk_factors, unitsOf(visit.stages))
  if (stage.stage_type === 'personal_details') return detailsOf(stage.config, customer)
  return stage.stage_type === 'partner_details' ? partnerRows(visit, stage) : []
}

const line = (visit: Visit, stage: Stage, { name, label, answer, isRequired }: Row): HTMLElement => {
  const onclick = (event: Event) => {
    event.preventDefault()
    visit.change(stage.key, name)
  }
  const isMissing = answer === undefined && isRequired
  const link = h(
    'a',
    { href: `#${stage.key}`, onclick },
    isMissing ? 'Answer' : 'Change',
    h('span', { class: 'unseen' }, label),
  )
  const shown = answer ?? (isMissing ? 'Not answered yet' : 'Not answered')
  return h(
    'div',
    {},
    h('dt', {}, label),
    h('dd', { class: isMissing && 'error' }, shown),
    h('dd', { class: 'change' }, link),
  )
}

/** All answers, by section, before the price is made of them: each can be changed, and what is missing is asked for. */
export const checkAnswers: MakeScreen = (visit, { title }) => {
  const sections = visit.stages
    .slice(0, visit.stages.findIndex(isCheck))
    .map((stage) => ({ stage, rows: rowsOf(visit, stage) }))
    .filter(({ rows }) => rows.length > 0)
  const missing = sections.flatMap(({ stage, rows }) =>
    rows.filter(({ answer, isRequired }) => isRequired && answer === undefined).map(({ name }) => ({ stage, name })),
  )
  const [first] = missing
  return {
    title,
    body: [
      h('p', {}, 'Your price and your cover rest on these answers. Please see that they are complete and right.'),
      ...sections.map(({ stage, rows }) =>
        h(
          'section',
          {},
          h('h2', {}, stage.title),
          h('dl', { class: 'answers' }, ...rows.map((row) => line(visit, stage, row))),
        ),
      ),
    ],
    submit: first
      ? { label: 'Answer what is missing', send: async () => visit.change(first.stage.key, first.name) }
      : { label: 'My answers are right', send: async () => visit.next() },
  }
}
