import { fillIn, h } from './elements.ts'
import { fromKnown, inKnown, known, type Known } from './units.ts'

const numberIn = (input: HTMLInputElement): number => (input.value.trim() === '' ? 0 : Number(input.value))

/** A field with its unit, and the same in units that people know, where either can be typed. Only the first is sent. */
export const withUnit = (field: HTMLElement, unit: string, isWhole: boolean): HTMLElement => {
  const target = field.querySelector('input')
  if (!target) return field
  target.after(h('span', { class: 'unit', 'aria-hidden': 'true' }, unit))
  const measure = known[unit]
  if (!measure) return field
  const part = ({ sign }: Known['larger']) =>
    h('input', { id: `${target.id}-${sign}`, type: 'text', inputmode: 'decimal', class: 'digits-2' })
  const [larger, smaller] = [part(measure.larger), part(measure.smaller)]
  const labelled = ({ label }: Known['larger'], input: HTMLInputElement) =>
    h('div', {}, h('label', { for: input.id }, label), input)
  let isOurs = false
  const show = () => {
    if (isOurs) return
    const value = target.value.trim() === '' ? Number.NaN : Number(target.value)
    const pair = Number.isFinite(value) ? inKnown(unit, value) : undefined
    larger.value = pair ? String(pair[0]) : ''
    smaller.value = pair ? String(pair[1]) : ''
  }
  const take = () => {
    const value = fromKnown(unit, [numberIn(larger), numberIn(smaller)], isWhole)
    isOurs = true
    fillIn(target, larger.value + smaller.value === '' || !Number.isFinite(value) ? '' : String(value))
    isOurs = false
  }
  target.addEventListener('input', show)
  for (const each of [larger, smaller]) each.addEventListener('input', take)
  show()
  field.append(
    h(
      'div',
      { class: 'parts known', role: 'group', 'aria-label': measure.said },
      labelled(measure.larger, larger),
      labelled(measure.smaller, smaller),
    ),
  )
  return field
}
