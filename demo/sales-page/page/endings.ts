import { button, h, list } from './elements.ts'
import { firm } from './firm.ts'
import type { Application, Question } from './records.ts'
import type { Made } from './visit.ts'

type Ending = {
  readonly title: string
  readonly outcome?: string
  readonly next: (application: Application) => readonly string[]
}

const asks = `Call us on ${firm.phone} and name your reference`
const noCover = 'You pay nothing, and you are not covered.'

const endings: Readonly<Record<string, Ending>> = {
  referred: {
    title: 'Our underwriters look at your application',
    outcome: 'refer',
    next: ({ customer }) => [
      'An underwriter reads your answers, and may ask you for more.',
      typeof customer?.email === 'string'
        ? `We write to ${customer.email} when it is decided.`
        : `We do not know yet how to reach you. ${asks}: then we tell you what was decided.`,
      'This page shows what was decided too, and goes on from there, as long as you keep this tab open.',
      `${noCover} That begins only when you buy the cover.`,
    ],
  },
  declined: {
    title: 'We cannot offer you this cover',
    outcome: 'decline',
    next: () => [
      `${noCover} Another insurer may decide otherwise.`,
      'If one of your answers was wrong, start another application.',
      `${asks}, to ask why, or if you do not agree.`,
    ],
  },
  postponed: {
    title: 'We cannot offer you this cover yet',
    outcome: 'postpone',
    next: () => [
      'This is no refusal: we decide again when some time has passed.',
      `${asks}, to ask when that is. Your answers are kept.`,
      noCover,
    ],
  },
  abandoned: {
    title: 'This application is closed',
    next: () => [`It was given up, or another was started in its place. ${noCover}`, 'You can start another one.'],
  },
}

/** True where an application has ended, or waits for the firm's people. */
export const isEnded = ({ status }: Application): boolean => endings[status] !== undefined

/** The short form of an id, by which the firm's people find the application. */
export const referenceOf = ({ id }: Pick<Application, 'id'>): string =>
  `${id.slice(-8, -4)}-${id.slice(-4)}`.toUpperCase()

/** The sentences that the firm has written for the answers by which an application ended. */
const reasonsOf = (
  questions: readonly Question[],
  { risk_factors }: Application,
  outcome: string | undefined,
): readonly string[] =>
  questions.flatMap(({ key, answer_options }) => {
    const given = risk_factors[key]
    const isChosen = (value: string) => (Array.isArray(given) ? given.includes(value) : given === value)
    return answer_options.flatMap(({ value, terminal_outcome, terminal_reason_message }) =>
      outcome !== undefined && terminal_outcome === outcome && isChosen(value) && terminal_reason_message !== null
        ? [terminal_reason_message]
        : [],
    )
  })

export const reference = (application: Pick<Application, 'id'>): HTMLElement =>
  h(
    'div',
    {},
    h('p', {}, 'Your reference'),
    h('p', { class: 'price number', id: 'reference' }, referenceOf(application)),
  )

export type Ways = {
  /** Reads the application again. */
  readonly again: () => void
  readonly startAnother: () => void
}

export const startAnotherButton = ({ startAnother }: Pick<Ways, 'startAnother'>): HTMLElement =>
  h('div', { class: 'choices' }, button('Start another application', startAnother))

const now = (): string => new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' }).format(new Date())

/** The screen of an application that has ended or waits for the firm's people, whatever stage it was at. */
export const endingOf = (
  application: Application,
  questions: readonly Question[],
  { again, startAnother }: Ways,
): Made | undefined => {
  const ending = endings[application.status]
  if (!ending) return undefined
  const isUndecided = application.status === 'referred'
  return {
    title: ending.title,
    body: [
      ...reasonsOf(questions, application, ending.outcome).map((reason) => h('p', {}, reason)),
      reference(application),
      h('h2', {}, 'What happens next'),
      list(ending.next(application)),
      isUndecided && h('p', { class: 'quiet' }, `Nothing was decided yet at ${now()}.`),
      h(
        'div',
        { class: 'choices' },
        isUndecided && button('Look again', again),
        button('Start another application', startAnother),
      ),
    ],
  }
}
