import type { Filled } from './dialogs.ts'

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

const currency = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP' })
const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const times = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

/** The value of a field as people write it. Empty: nothing was filled in. */
const shownValue = (control: Control): string => {
  if (control instanceof HTMLSelectElement)
    return control.value === '' ? '' : (control.selectedOptions[0]?.textContent ?? '')
  if (control instanceof HTMLInputElement && control.type === 'checkbox') return control.checked ? 'yes' : ''
  const text = control.value.trim()
  if (text === '') return ''
  switch (control.dataset['kind'] ?? 'text') {
    case 'pounds':
      return currency.format(Number(text))
    case 'date':
      return dates.format(new Date(`${text}T00:00Z`))
    case 'instant':
      return times.format(new Date(text))
    default:
      return text
  }
}

const labelOf = (control: Control): string => control.labels?.[0]?.firstChild?.textContent ?? ''

/** All that was filled into a form, by the labels of its fields; boxes of one name together. */
export const filledIn = (form: HTMLFormElement): readonly Filled[] => {
  const filled = [...form.querySelectorAll<Control>('[data-kind]:not([data-kind="several"])')].map((control) => ({
    name: labelOf(control),
    value: shownValue(control),
  }))
  const several = [...form.querySelectorAll('fieldset')].map((group) => ({
    name: group.querySelector('legend')?.textContent ?? '',
    value: [...group.querySelectorAll<HTMLInputElement>('input:checked')].map(labelOf).join(', '),
  }))
  return [...filled, ...several].filter(({ value }) => value !== '')
}

/** The record that an act is about, and the part of it: a person, their policy, and one of its premiums. */
export const aboutOf = (form: HTMLFormElement): string => {
  const title = document.querySelector('h1')?.textContent ?? ''
  const about = document.querySelector('main')?.dataset['about'] ?? ''
  const record = [title, about].filter((each) => each !== '').join(', ')
  const part = form.closest('section[data-part]')?.querySelector('h3')?.textContent ?? ''
  return [record, part].filter((each) => each !== '').join(': ')
}
