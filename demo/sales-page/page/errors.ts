import { Refused } from './api.ts'
import { h } from './elements.ts'

/** The faults of a form: at each input, and together at the top. Each goes when its input is answered. */

/** `customer.email` and `answers.smoker` name the inputs `email` and `smoker`. */
const nameOf = (field: string): string => field.replace(/^.*\./, '').replace(/\[\d+\]$/, '')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const named = (label: string | null | undefined): string =>
  label === null || label === undefined ? '' : /[?:.]$/.test(label) ? label : `${label}:`

const errorId = (target: Element): string => `${target.id}-error`

const mark = (target: HTMLElement, text: string): void => {
  const shown = h('p', { class: 'error', id: errorId(target) }, text)
  const group = target.closest('fieldset')
  if (group) group.querySelector('legend')?.after(shown)
  else target.before(shown)
  target.setAttribute('aria-invalid', 'true')
  target.setAttribute('aria-describedby', `${errorId(target)} ${target.getAttribute('aria-describedby') ?? ''}`.trim())
}

const unmark = (target: Element): void => {
  document.getElementById(errorId(target))?.remove()
  target.removeAttribute('aria-invalid')
  const others = (target.getAttribute('aria-describedby') ?? '').split(' ').filter((id) => id !== errorId(target))
  if (others.join('') === '') target.removeAttribute('aria-describedby')
  else target.setAttribute('aria-describedby', others.join(' '))
  document
    .querySelector(`.summary a[href="#${CSS.escape(target.id)}"]`)
    ?.closest('li')
    ?.remove()
  const summary = document.querySelector('.summary')
  if (summary?.querySelector('ul')?.childElementCount === 0) summary.remove()
}

export const clearErrors = (form: HTMLFormElement): void => {
  for (const each of form.querySelectorAll('[aria-invalid]')) unmark(each)
  form.querySelector('.summary')?.remove()
}

const isAnswered = (target: Element): boolean => {
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return target.value.trim() !== ''
  const inputs = [...target.querySelectorAll('input')]
  const isChoice = inputs.some(({ type }) => type === 'radio' || type === 'checkbox')
  return isChoice ? inputs.some(({ checked }) => checked) : inputs.every(({ value }) => value.trim() !== '')
}

/** Takes the error of an input away as soon as it is answered, not only when the form is sent again. */
export const forgetAnswered = (form: HTMLFormElement): void => {
  form.addEventListener('input', ({ target }) => {
    for (const each of form.querySelectorAll('[aria-invalid]'))
      if (target instanceof Node && each.contains(target) && isAnswered(each)) unmark(each)
  })
}

export const showError = (form: HTMLFormElement, error: unknown): void => {
  const { message, fields } =
    error instanceof Refused
      ? error
      : { message: 'We could not reach our service. Check your connection and try again.', fields: {} }
  const found = Object.entries(fields).map(([field, reason]) => {
    const target = form.querySelector<HTMLElement>(`[id="${CSS.escape(nameOf(field))}"]`)
    return { target, text: capital(reason) }
  })
  // From the last on: at a group each error stands before those that came earlier.
  for (const { target, text } of found.toReversed()) if (target) mark(target, text)
  const links = found.map(({ target, text }) => {
    const click = (event: Event) => {
      event.preventDefault()
      ;(target?.querySelector<HTMLElement>('input') ?? target)?.focus()
    }
    const field = target?.closest('fieldset') ?? target?.closest('.field')
    const label = field?.querySelector('label, legend')?.textContent
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
