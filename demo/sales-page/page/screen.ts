import { Refused } from './api.ts'
import { h } from './elements.ts'

export type Screen = {
  readonly title: string
  /** Shown between the title and the button. */
  readonly body: readonly (Node | null | undefined | false)[]
  /** Without it there is nothing to send: the journey ends here. */
  readonly submit?: { readonly label: string; readonly send: (given: FormData) => Promise<void> }
  readonly back?: () => void
  readonly progress?: { readonly step: number; readonly of: number }
}

/** The inputs that the visitor must correct, by name. */
export class Incomplete extends Refused {
  constructor(fields: Readonly<Record<string, string>>) {
    super('incomplete', 'Some answers are missing.', fields)
  }
}

const main = (): HTMLElement => document.querySelector('main') ?? document.body

/** Shows a screen, and puts the focus on its title so that it is read out. */
export const show = ({ title, body, submit, back, progress }: Screen): void => {
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
  if (submit && form instanceof HTMLFormElement)
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void sendForm(form, submit.send)
    })
  document.title = `${title} – Northlight Life`
  main().replaceChildren(...(progress === undefined ? [] : progressBar(progress)), heading, form)
  heading.focus()
  scrollTo(0, 0)
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

const clearErrors = (form: HTMLFormElement): void => {
  for (const each of form.querySelectorAll('.error, .summary')) each.remove()
  for (const each of form.querySelectorAll('[aria-invalid]')) each.removeAttribute('aria-invalid')
}

/** `customer.email` and `answers.smoker` name the inputs `email` and `smoker`. */
const nameOf = (field: string): string => field.replace(/^.*\./, '').replace(/\[\d+\]$/, '')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const named = (label: string | null | undefined): string =>
  label === null || label === undefined ? '' : /[?:.]$/.test(label) ? label : `${label}:`

const showError = (form: HTMLFormElement, error: unknown): void => {
  const { message, fields } =
    error instanceof Refused
      ? error
      : { message: 'We could not reach our service. Check your connection and try again.', fields: {} }
  const found = Object.entries(fields).map(([field, reason]) => {
    const target = form.querySelector<HTMLElement>(`[id="${CSS.escape(nameOf(field))}"]`)
    return { target, text: capital(reason) }
  })
  for (const { target, text } of found) {
    if (!target) continue
    const id = `${target.id}-error`
    const shown = h('p', { class: 'error', id }, text)
    if (target instanceof HTMLFieldSetElement) target.querySelector('legend')?.after(shown)
    else target.before(shown)
    target.setAttribute('aria-invalid', 'true')
    target.setAttribute('aria-describedby', `${id} ${target.getAttribute('aria-describedby') ?? ''}`.trim())
  }
  const links = found.map(({ target, text }) => {
    const focus = () => (target?.querySelector<HTMLElement>('input') ?? target)?.focus()
    const click = (event: Event) => {
      event.preventDefault()
      focus()
    }
    const label = target?.closest('.field')?.querySelector('label, legend')?.textContent
    return h('li', {}, target ? h('a', { href: `#${target.id}`, onclick: click }, `${named(label)} ${text}`) : text)
  })
  const summary = h(
    'div',
    { class: 'summary', role: 'alert', tabindex: -1 },
    h('h2', {}, 'There is a problem'),
    links.length > 0 ? h('ul', {}, ...links) : h('p', {}, message),
  )
  form.prepend(summary)
  summary.focus()
}
