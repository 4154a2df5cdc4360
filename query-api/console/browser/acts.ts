import { bodyOf, isChanged, isControl } from './body.ts'
import { aboutOf, filledIn } from './filled.ts'
import { isConfirmed, say, showOnce } from './dialogs.ts'
import { effectLines } from './effect.ts'
import { eventIds, lateEvents, namesOf, newEvents } from './events.ts'
import { send, signInAgain, type Sent } from './send.ts'

/** `acts.0.stage` as the API names it: `acts[0].stage`. */
const named = (name: string): string => name.replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]')

const showFaults = (form: HTMLFormElement, message: string, fields: Readonly<Record<string, string>> = {}): void => {
  for (const place of form.querySelectorAll<HTMLElement>('[data-fault]')) {
    const name = place.dataset['fault'] ?? ''
    place.textContent = name === '' ? message : (fields[named(name)] ?? fields[name] ?? '')
  }
}

const sameForm = ({ dataset }: HTMLFormElement) =>
  [...document.querySelectorAll<HTMLFormElement>('form[data-act]')].find(
    (form) => form.dataset['act'] === dataset['act'] && form.dataset['address'] === dataset['address'],
  )

/** All that was begun in the other forms of the page, to be put back into the same forms of a later state. */
const unsent = (done: HTMLFormElement): readonly (() => void)[] =>
  [...document.querySelectorAll<HTMLFormElement>('form[data-act]')].flatMap((form) => {
    const isOpen = form.closest('details')?.open ?? false
    const changed = [...form.elements].filter(isControl).filter(isChanged)
    if (form === done || (!isOpen && changed.length === 0)) return []
    return [
      () => {
        const again = sameForm(form)
        const details = again?.closest('details')
        if (details) details.open = true
        for (const before of changed) {
          // Boxes of one name are told apart by their ids.
          const control = [...(again?.elements ?? [])].find(({ id }) => id === before.id)
          if (!isControl(control)) continue
          control.value = before.value
          if (control instanceof HTMLInputElement && before instanceof HTMLInputElement)
            control.checked = before.checked
        }
      },
    ]
  })

/** Shows the page as it is now, in place, and names the events that were not there before. */
const refresh = async (done: HTMLFormElement): Promise<readonly string[]> => {
  const before = eventIds()
  const response = await fetch(location.href)
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main')
  if (response.redirected || !fresh) {
    location.reload()
    return []
  }
  const begun = unsent(done)
  document.querySelector('main')?.replaceWith(document.adoptNode(fresh))
  for (const restore of begun) restore()
  return newEvents(before)
}

const finish = async (form: HTMLFormElement, sent: Extract<Sent, { outcome: 'done' }>): Promise<void> => {
  const { act: title = '', shows } = form.dataset
  const outcome =
    sent.data['status'] === 'waiting'
      ? `${title}: it waits for a second user, and is done once they approve it.`
      : `${title}: done.`
  say(outcome)
  const once = shows === undefined ? undefined : sent.data[shows]
  if (typeof once === 'string') await showOnce(title, [{ value: once }])
  const before = eventIds()
  const shown = await refresh(form).catch(() => [])
  document.querySelector<HTMLElement>('main')?.focus()
  const made = shown.length > 0 ? shown : await lateEvents(before).catch(() => [])
  if (made.length > 0) say(`${outcome} ${namesOf(made)}`)
}

const doneOnce = 'No answer came, so it may be done or not. Press again: it is done once.'
const lookFirst = 'No answer came, so it may be done or not. Load the page again and see before you repeat it.'

/** A key that was made, and never shown, is made again unless the act has a key of its own: all else is done once. */
const isRepeatable = ({ dataset }: HTMLFormElement): boolean =>
  dataset['shows'] === undefined || dataset['key'] !== undefined

type Refusal = { readonly message: string; readonly fields?: Readonly<Record<string, string>> }

/** The number that an act would concern, as the API counts it, or why it would not be done. Empty where it is not counted. */
const countOf = async (form: HTMLFormElement): Promise<string | Refusal> => {
  const { method = 'POST', address = '', counted } = form.dataset
  if (counted === undefined) return ''
  const sent = await send(method, address, { ...bodyOf(form), dry_run: true })
  if (sent.outcome === 'no answer') return { message: 'The service did not answer. Nothing was changed; try again.' }
  if (sent.outcome === 'refused') return sent
  const { deliveries, by_state } = sent.data as { deliveries: number; by_state: Readonly<Record<string, number>> } // our own API's
  const parts = Object.entries(by_state).map(([state, count]) => `${count} ${state}`)
  return `${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}. `
}

/** The effect of an act, as the API shows it beforehand. Undefined: it would be refused, or nobody knows; the page says so. */
const effectOf = async (form: HTMLFormElement, address: string): Promise<readonly string[] | undefined> => {
  showFaults(form, '')
  const sent = await send('POST', address, bodyOf(form))
  if (sent.outcome === 'done') return effectLines(sent.data)
  if (sent.outcome === 'no answer') showFaults(form, 'No answer came. Nothing was done; press again.')
  else if (sent.status === 401) signInAgain()
  else showFaults(form, sent.message, sent.fields)
  return undefined
}

/** True once whoever presses has seen what will happen, and wants it. */
const isWanted = async (form: HTMLFormElement, button: HTMLButtonElement): Promise<boolean> => {
  const { act: title = '', ask, preview } = form.dataset
  // A second press while it is counted would ask a second time.
  button.disabled = true
  const counted = await countOf(form)
  const effect = preview === undefined ? [] : await effectOf(form, preview)
  button.disabled = false
  if (typeof counted === 'object') {
    showFaults(form, counted.message, counted.fields)
    return false
  }
  if (ask === undefined) return true
  if (effect === undefined) return false
  const told = { about: aboutOf(form), filled: filledIn(form), effect }
  return isConfirmed({ title, ask: `${counted}${ask}`, tone: button.className, ...told })
}

const perform = async (form: HTMLFormElement): Promise<void> => {
  const { act: title = '', method = 'POST', address = '', key } = form.dataset
  const button = form.querySelector<HTMLButtonElement>('button[type="submit"]')
  if (!button || button.disabled || !(await isWanted(form, button))) return
  button.disabled = true
  showFaults(form, '')
  const sent = await send(method, address, bodyOf(form), key)
  button.disabled = false
  if (sent.outcome === 'done') return finish(form, sent)
  // Sent again, it bears the same ids, and is done once.
  if (sent.outcome === 'no answer') return showFaults(form, isRepeatable(form) ? doneOnce : lookFirst)
  if (sent.status === 401) return signInAgain()
  if (sent.status !== 409) return showFaults(form, sent.message, sent.fields)
  // Somebody was faster: who, and with what, is among what happened.
  await refresh(form).catch(() => [])
  say(`${title}: not done. ${sent.message}`)
}

/** Every form of an act, those too that come with a later state of the page. */
export const listenForActs = (): void => {
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || form.dataset['act'] === undefined) return
    event.preventDefault()
    void perform(form)
  })
}
