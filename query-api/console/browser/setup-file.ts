import { isConfirmed, say, showOnce, type Secret } from './dialogs.ts'
import { eventIds, lateEvents, namesOf } from './events.ts'
import { send, signInAgain, type Sent } from './send.ts'

/** A set-up file is read, edited, planned and applied. What it says of changes comes from the API. */

type Step = {
  readonly organisation: string
  readonly what: string
  readonly change: 'create' | 'change' | 'none'
  readonly details: readonly string[]
  /** The names of the secrets that are made for it. */
  readonly makes: readonly string[]
  readonly waits?: true
  readonly proposal_id?: string
  readonly secrets?: Readonly<Record<string, string>>
}

type Texts = Readonly<Record<string, string>>
/** The files that a set-up file names. */
type Files = { readonly files: Texts; readonly binary_files: Texts }

const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

const mark = '\n---\n{'

/** A file as it is exported, or as it was written: what it names follows it as JSON. */
const read = (text: string): { readonly text: string } & Partial<Files> => {
  const at = text.lastIndexOf(mark)
  if (at === -1) return { text }
  try {
    const attached = JSON.parse(text.slice(at + mark.length - 1)) as Partial<Files> // checked by the API
    return { text: text.slice(0, at), files: attached.files ?? {}, binary_files: attached.binary_files ?? {} }
  } catch {
    return { text }
  }
}

const base64Of = (bytes: Uint8Array): string => {
  let text = ''
  for (const byte of bytes) text += String.fromCodePoint(byte)
  return btoa(text)
}

class AmbiguousName extends Error {
  override readonly name = 'AmbiguousName'
}

/** The chosen files by the names under which the set-up file has them: a browser knows nothing of folders. */
const readFiles = async (chosen: Iterable<File>, text: string): Promise<Files> => {
  const files: Record<string, string> = {}
  const binary_files: Record<string, string> = {}
  const named = [...text.matchAll(/\bfile:\s*["']?([^\s"',}]+)/g)].map(([, name = '']) => name)
  for (const file of chosen) {
    const bytes = new Uint8Array(await file.arrayBuffer())
    const names = new Set(named.filter((name) => name === file.name || name.endsWith(`/${file.name}`)))
    if (names.size > 1)
      throw new AmbiguousName(`${file.name} could be ${[...names].join(' or ')}. Give these files names of their own.`)
    for (const name of names)
      try {
        files[name] = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      } catch {
        binary_files[name] = base64Of(bytes)
      }
  }
  return { files, binary_files }
}

/** Secrets by the step that needs them, and by name. */
type Made = Readonly<Record<string, Texts>>

const nameOf = ({ organisation, what }: Step): string => `${organisation}: ${what}`

const secretBytes = 32

const newSecret = (): string =>
  base64Of(crypto.getRandomValues(new Uint8Array(secretBytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** Made before anything is applied, and the same when it is sent again: whatever becomes of the answer, they are known. */
const madeFor = (steps: readonly Step[]): Made =>
  Object.fromEntries(
    steps
      .filter(({ makes }) => makes.length > 0)
      .map((step) => [nameOf(step), Object.fromEntries(step.makes.map((name) => [name, newSecret()]))]),
  )

/** In place of the name of each secret that is missing, what was typed for it. The lines stay what they are. */
const withSecrets = (text: string, form: HTMLFormElement): string => {
  let filled = text
  for (const { dataset, value } of form.querySelectorAll<HTMLInputElement>('input[data-secret]')) {
    const name = (dataset['secret'] ?? '').replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    if (value === '') continue
    const missing = String.raw`missing:\s*["']?${name}["']?[ \t]*`
    const secret = JSON.stringify(value)
    filled = filled
      .replaceAll(new RegExp(String.raw`\{\s*${missing}\}`, 'g'), () => secret)
      .replaceAll(new RegExp(String.raw`:[ \t]*\n[ \t]+${missing}(?=\n|$)`, 'g'), () => `: ${secret}\n`)
  }
  return filled
}

type Faults = Extract<Sent, { outcome: 'refused' }>['fields']

const reasonsIn = (fields: Faults): readonly string[] =>
  Object.entries(fields)
    .flatMap(([input, reasons]) => reasons.split(/; (?=line \d+: )/).map((reason) => ({ input, reason })))
    .map(({ input, reason }) => ({ line: Number(/^line (\d+)/.exec(reason)?.[1] ?? 0), text: `${reason} (${input})` }))
    .toSorted((one, other) => one.line - other.line)
    .map(({ text }) => text)

const askForSecrets = (form: HTMLFormElement, reasons: readonly string[]): void => {
  const place = form.querySelector('[data-missing]')
  for (const reason of reasons) {
    const name = /the secret (.+) is missing: write it here/.exec(reason)?.[1]
    if (name === undefined || form.querySelector(`[data-secret="${CSS.escape(name)}"]`)) continue
    const id = `secret-${form.querySelectorAll('[data-secret]').length}`
    const input = element('input', { type: 'password', id, autocomplete: 'off' })
    input.dataset['secret'] = name
    place?.append(
      element('div', { className: 'field' }, element('label', { htmlFor: id }, `The secret ${name}`), input),
    )
  }
}

const showFaults = (form: HTMLFormElement, message: string, fields: Faults = {}): void => {
  const reasons = reasonsIn(fields)
  const place = form.querySelector('[data-fault]')
  place?.replaceChildren(message, element('ul', {}, ...reasons.map((reason) => element('li', {}, reason))))
  if (reasons.length === 0) place?.replaceChildren(message)
  askForSecrets(form, reasons)
}

const marks = { create: 'made', change: 'changed', none: 'stays' } as const

/** `cooldown_days: 30 → 14` as what is now, and what is to be. */
const detailRow = (detail: string): HTMLElement => {
  const [, of, now, then] = /^(.*?): (.*) → (.*)$/s.exec(detail) ?? []
  if (of === undefined || now === undefined || then === undefined)
    return element('tr', {}, element('td', { colSpan: 3 }, detail))
  return element('tr', {}, element('th', { scope: 'row' }, of), element('td', {}, now), element('td', {}, then))
}

const detailsOf = ({ what, details }: Step): readonly HTMLElement[] => {
  if (details.length === 0) return []
  const titles = ['Of it', 'Now', 'Then'].map((title) => element('th', { scope: 'col' }, title))
  return [
    element(
      'table',
      { className: 'changes' },
      element('caption', { className: 'unseen' }, `What it changes of ${what}`),
      element('thead', {}, element('tr', {}, ...titles)),
      element('tbody', {}, ...details.map(detailRow)),
    ),
  ]
}

const approvalOf = ({ proposal_id }: Step, form: HTMLFormElement): readonly HTMLElement[] =>
  proposal_id === undefined
    ? []
    : [
        element(
          'p',
          {},
          element('a', { href: `${form.dataset['approvals']}/${proposal_id}` }, 'See it in the approvals'),
        ),
      ]

const stepView = (step: Step, form: HTMLFormElement): HTMLElement =>
  element(
    'li',
    {},
    element(
      'p',
      {},
      element(
        'span',
        { className: `badge ${step.waits ? 'wait' : 'good'}` },
        step.waits ? 'waits' : marks[step.change],
      ),
      ' ',
      element('strong', {}, step.what),
    ),
    ...detailsOf(step),
    ...approvalOf(step, form),
  )

const counted = (count: number, one: string, several: string): string => `${count} ${count === 1 ? one : several}`

const sumOf = (steps: readonly Step[]): string => {
  const of = (change: Step['change']) => steps.filter((step) => step.change === change && !step.waits).length
  const waiting = steps.filter(({ waits }) => waits).length
  return [
    counted(of('create'), 'thing is made', 'things are made'),
    counted(of('change'), 'is changed', 'are changed'),
    ...(waiting === 0 ? [] : [counted(waiting, 'waits for a second user', 'wait for a second user')]),
    counted(of('none'), 'stays as it is', 'stay as they are'),
  ].join(', ')
}

const planPlace = (): Element | null => document.querySelector('#plan')

const showSteps = (title: string, steps: readonly Step[], form: HTMLFormElement, ...after: readonly HTMLElement[]) => {
  const changes = steps.filter(({ change, waits }) => change !== 'none' || waits)
  planPlace()?.replaceChildren(
    element('h2', { tabIndex: -1 }, title),
    element('p', {}, `${sumOf(steps)}.`),
    element('ol', { className: 'timeline' }, ...changes.map((step) => stepView(step, form))),
    ...after,
  )
  planPlace()?.querySelector('h2')?.focus()
}

const stepsIn = (data: Readonly<Record<string, unknown>>): readonly Step[] => (data['steps'] ?? []) as readonly Step[] // our own API's

/** Secrets that were shown, of what was set up before this: by somebody else, or by an attempt whose answer was lost. */
const unusedOf = ({ made, wasLost }: Planned, steps: readonly Step[]): readonly string[] =>
  Object.entries(made).flatMap(([name, own]) => {
    const inForce = steps.find((step) => nameOf(step) === name)?.secrets ?? {}
    return Object.entries(own).flatMap(([secret, value]) => {
      if (inForce[secret] === value) return []
      return wasLost
        ? `${name}: it was set up by the attempt before, or by somebody else. Try the ${secret} that was shown.`
        : `${name}: somebody else has set it up meanwhile. The ${secret} that was shown is not in force.`
    })
  })

type Planned = {
  readonly steps: readonly Step[]
  readonly made: Made
  readonly sent: (made: Made) => string
  /** True once it was sent and no answer came. */
  wasLost: boolean
}

const noAnswer = 'No answer came, so it may be applied or not. Press again: what was applied is not applied twice.'

const apply = async (form: HTMLFormElement, button: HTMLButtonElement, planned: Planned) => {
  const { steps, made, sent } = planned
  const secrets: readonly Secret[] = Object.entries(made).flatMap(([step, own]) =>
    Object.entries(own).map(([name, value]) => ({ name: `${step}, ${name}`, value })),
  )
  if (
    !(await isConfirmed({
      title: 'Apply it',
      about: sumOf(steps),
      ask: 'It counts at once, for whoever applies from then on.',
      tone: 'primary',
    }))
  )
    return
  if (secrets.length > 0 && !planned.wasLost) await showOnce('These secrets are made', secrets)
  button.disabled = true
  const before = eventIds()
  const answer = await send('POST', `${form.dataset['setupFile']}?apply=true`, sent(made))
  button.disabled = false
  if (answer.outcome === 'no answer') {
    planned.wasLost = true
    return showFaults(form, noAnswer)
  }
  if (answer.outcome === 'refused') {
    if (answer.status === 401) return signInAgain()
    const done = stepsIn(answer.data)
    if (done.length > 0) showSteps('Applied before it failed', done, form)
    return showFaults(form, answer.message, answer.fields)
  }
  for (const input of form.querySelectorAll<HTMLInputElement>('input[data-secret]')) input.value = ''
  const done = stepsIn(answer.data)
  showSteps('Applied', done, form, ...unusedOf(planned, done).map((text) => element('p', { className: 'fault' }, text)))
  say('Applied.')
  const events = await lateEvents(before).catch(() => [])
  if (events.length > 0) say(`Applied. ${namesOf(events)}`)
}

const plan = async (form: HTMLFormElement, attached: Files): Promise<void> => {
  const text = form.querySelector<HTMLTextAreaElement>('#setup-text')?.value ?? ''
  const given = form.querySelector<HTMLInputElement>('#setup-files')?.files ?? []
  const chosen = await readFiles(given, text).catch((error: unknown) => {
    if (!(error instanceof AmbiguousName)) throw error
    showFaults(form, error.message)
  })
  if (!chosen) return
  const files = { ...attached.files, ...chosen.files }
  const binary_files = { ...attached.binary_files, ...chosen.binary_files }
  const filled = withSecrets(text, form)
  const sent = (made_secrets: Made) =>
    `${filled}${mark.slice(0, -1)}${JSON.stringify({ files, binary_files, made_secrets })}\n`
  const answer = await send('POST', `${form.dataset['setupFile']}/plan`, sent({}))
  planPlace()?.replaceChildren()
  if (answer.outcome === 'no answer')
    return showFaults(form, 'The service did not answer. Nothing was changed; try again.')
  if (answer.outcome === 'refused')
    return answer.status === 401 ? signInAgain() : showFaults(form, answer.message, answer.fields)
  showFaults(form, '')
  const steps = stepsIn(answer.data)
  if (steps.every(({ change }) => change === 'none'))
    return planPlace()?.replaceChildren(
      element('p', { className: 'empty' }, 'It changes nothing: all of it is so already.'),
    )
  const planned: Planned = { steps, made: madeFor(steps), sent, wasLost: false }
  const button = element('button', { type: 'button', className: 'primary' }, 'Apply it')
  button.addEventListener('click', () => void apply(form, button, planned))
  showSteps('What it changes', steps, form, button)
}

/** The page of the set-up file, where that is the one that is open. */
export const listenForSetupFile = (): void => {
  const form = document.querySelector<HTMLFormElement>('form[data-setup-file]')
  const area = form?.querySelector<HTMLTextAreaElement>('#setup-text')
  if (!form || !area) return
  let attached: Files = { files: {}, binary_files: {} }
  const load = (whole: string): void => {
    const { text, files = {}, binary_files = {} } = read(whole)
    area.value = text
    attached = { files, binary_files }
    planPlace()?.replaceChildren()
  }
  form.querySelector('#setup-file')?.addEventListener('change', ({ target }) => {
    const file = target instanceof HTMLInputElement ? target.files?.[0] : undefined
    if (file) void file.text().then(load)
  })
  form.querySelector('[data-load]')?.addEventListener('click', () => {
    void fetch(form.dataset['exported'] ?? '')
      .then(async (response) =>
        response.ok ? load(await response.text()) : showFaults(form, 'It could not be read. Try again in a moment.'),
      )
      .catch(() => showFaults(form, 'The service did not answer. Try again in a moment.'))
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const button = form.querySelector<HTMLButtonElement>('button[type="submit"]')
    if (!button || button.disabled) return
    button.disabled = true
    void plan(form, attached).finally(() => {
      button.disabled = false
    })
  })
}
