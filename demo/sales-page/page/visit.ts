import type { Api } from './api.ts'
import { dateFaults, dateIn, hasDate } from './date-field.ts'
import type { Answer, Application, Policy, Question, Stage } from './records.ts'
import { Incomplete, type Screen } from './screen.ts'

/** The parts that a stage works with. */
export type Visit = {
  readonly api: Api
  readonly application: Application
  readonly shareToken: string
  readonly questions: readonly Question[]
  readonly stages: readonly Stage[]
  /** The quote that the visitor has accepted, or is looking at. */
  readonly quoteId: string | undefined
  readonly policy: Policy | undefined
  /** The second person's answers, as far as they were given in this tab since the page was loaded. */
  readonly partnerAnswers: Readonly<Record<string, Answer>> | undefined
  /** The level of a plan that was chosen. */
  readonly level: string | undefined
  /** Goes on to the next stage, to the one with this key, or back to the check of all answers. */
  readonly next: (changed?: Partial<Changed>, stageKey?: string) => void
  /** Opens a stage, at one of its inputs, so that an answer can be changed; after it all answers are checked again. */
  readonly change: (stageKey: string, name?: string) => void
  /** Leaves this application, and starts another one. */
  readonly startAnother: () => void
}

type Changed = Pick<Visit, 'application' | 'quoteId' | 'policy' | 'partnerAnswers' | 'level'>

/** Opens the first stage of this type so that its answers can be changed. */
export const changeStage = ({ stages, change }: Visit, type: string): void => {
  const stage = stages.find(({ stage_type }) => stage_type === type)
  if (stage) change(stage.key)
}

export type Made = Pick<Screen, 'title' | 'body' | 'submit'>
/** Undefined: there is nothing to show at this stage. */
export type MakeScreen = (visit: Visit, stage: Stage) => Promise<Made | undefined> | Made | undefined

export const textIn = (given: FormData, name: string): string => {
  if (hasDate(given, name)) return dateIn(given, name)
  const value = given.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

/** The values of the boxes that were ticked. */
export const allIn = (given: FormData, name: string): readonly string[] =>
  given.getAll(name).filter((value) => typeof value === 'string')

const datesIn = (given: FormData): readonly string[] =>
  [...given.keys()].filter((key) => key.endsWith('-day')).map((key) => key.slice(0, -'-day'.length))

/** The inputs to be corrected: those of these names that are empty, and the parts of dates that are none. */
export const faultsIn = (given: FormData, names: readonly string[]): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(names.filter((name) => textIn(given, name) === '').map((name) => [name, 'fill this in'])),
  ...Object.fromEntries(datesIn(given).flatMap((name) => Object.entries(dateFaults(given, name)))),
})

export const refuse = (faults: Readonly<Record<string, string>>): void => {
  if (Object.keys(faults).length > 0) throw new Incomplete(faults)
}

export const requireAll = (given: FormData, names: readonly string[]): void => refuse(faultsIn(given, names))

export const patch = ({ api, application, shareToken }: Visit, part: string, body: object): Promise<Application> =>
  api.send('PATCH', `/applications/${application.id}${part}`, { body, shareToken })
