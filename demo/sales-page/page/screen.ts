import { Refused } from './api.ts'
import { h } from './elements.ts'
import { clearErrors, forgetAnswered, showError } from './errors.ts'
import { firm } from './firm.ts'

export type Screen = {
  readonly title: string
  /** Shown between the title and the button. */
  readonly body: readonly (Node | null | undefined | false)[]
  /** Without it there is nothing to send: the journey ends here. */
  readonly submit?: { readonly label: string; readonly send: (given: FormData) => Promise<void> }
  readonly back?: () => void
  readonly progress?: { readonly step: number; readonly of: number }
  /** The input at which somebody goes on who wants to change an answer. */
  readonly opensAt?: string | undefined
}

/** The inputs that the visitor must correct, by name. */
export class Incomplete extends Refused {
  constructor(fields: Readonly<Record<string, string>>) {
    super('incomplete', 'Some answers are missing.', fields)
  }
}

const main = (): HTMLElement => document.querySelector('main') ?? document.body

/** Shows a screen, and puts the focus on its title so that it is read out. */
export const show = ({ title, body, submit, back, progress, opensAt }: Screen): void => {
  const heading = h('h1', { tabindex: -1 }, title)
  const content = body.filter((part) => part instanceof Node)
  const backButton = back && h('button', { type: 'button', class: 'second', onclick: back }, 'Back')
  const form = submit
    ? h(
        'form',
        { novalidate: true },
        ...content,
        h('div', { class: 'buttons' }, h('button', { type: 'submit' }, submit.label), backButton),
      )
    : h('div', { class: 'card' }, ...content, backButton && h('div', { class: 'buttons' }, backButton))
  if (submit && form instanceof HTMLFormElement) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void sendForm(form, submit.send)
    })
    forgetAnswered(form)
  }
  document.title = `${title} – ${firm.name}`
  main().replaceChildren(...(progress === undefined ? [] : progressBar(progress)), heading, form)
  heading.focus()
  scrollTo(0, 0)
  if (opensAt !== undefined) focusOn(form, opensAt)
}

const focusOn = (form: HTMLElement, name: string): void => {
  const field = form.querySelector<HTMLElement>(`[id="${CSS.escape(name)}"]`)
  const input = field?.querySelector<HTMLElement>('input:checked') ?? field?.querySelector<HTMLElement>('input')
  ;(input ?? field)?.focus()
  field?.closest('.field')?.scrollIntoView({ block: 'center' })
}

/** The last screen only tells what was done, so it is no step. */
const progressBar = ({ step, of }: NonNullable<Screen['progress']>): readonly HTMLElement[] => [
  h('progress', { value: step, max: of, 'aria-label': 'How far you are' }),
  ...(step < of ? [h('p', { class: 'step quiet' }, `Step ${step} of ${of - 1}`)] : []),
]

export const showWaiting = (text: string): void => {
  main().replaceChildren(h('p', { class: 'waiting', role: 'status' }, text))
}

const sendForm = async (form: HTMLFormElement, send: (given: FormData) => Promise<void>): Promise<void> => {
  const given = new FormData(form)
  clearErrors(form)
  const buttons = [...form.querySelectorAll('button')]
  for (const each of buttons) each.disabled = true
  try {
    await send(given)
  } catch (error) {
    showError(form, error)
  } finally {
    for (const each of buttons) each.disabled = false
  }
}
