import type { Api } from './api.ts'
import type { Application, Policy, Question, Stage } from './records.ts'
import { Incomplete, type Screen } from './screen.ts'

/** The parts that a stage works with. */
export type Visit = {
  readonly api: Api
  readonly application: Application
  readonly shareToken: string
  readonly questions: readonly Question[]
  /** The quote that the visitor has accepted, or is looking at. */
  readonly quoteId: string | undefined
  readonly policy: Policy | undefined
  /** Goes on to the next stage, or to the one with this key. */
  readonly next: (changed?: Partial<Pick<Visit, 'application' | 'quoteId' | 'policy'>>, stageKey?: string) => void
  /** Goes back to the first stage of this type. */
  readonly backTo: (stageType: string) => void
  /** Leaves this application, and starts another one. */
  readonly startAnother: () => void
}

export type Made = Pick<Screen, 'title' | 'body' | 'submit'>
/** Undefined: there is nothing to show at this stage. */
export type MakeScreen = (visit: Visit, stage: Stage) => Promise<Made | undefined> | Made | undefined

export const textIn = (given: FormData, name: string): string => {
  const value = given.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

/** The values of the boxes that were ticked. */
export const allIn = (given: FormData, name: string): readonly string[] =>
  given.getAll(name).filter((value) => typeof value === 'string')

export const requireAll = (given: FormData, names: readonly string[]): void => {
  const missing = names.filter((name) => textIn(given, name) === '')
  if (missing.length > 0) throw new Incomplete(Object.fromEntries(missing.map((name) => [name, 'fill this in'])))
}

export const patch = ({ api, application, shareToken }: Visit, part: string, body: object): Promise<Application> =>
  api.send('PATCH', `/applications/${application.id}${part}`, { body, shareToken })
