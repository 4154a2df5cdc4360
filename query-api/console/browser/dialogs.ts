/** Says what was done, or was not, to whoever looks and whoever listens. */
export const say = (message: string): void => {
  const place = document.querySelector('#said')
  if (place) place.textContent = message
}

/** A field of a form and what was filled in. */
export type Filled = { readonly name: string; readonly value: string }

/** An act that is about to be done: of which record, with which values, and to what effect, line by line. */
type Asked = {
  readonly title: string
  readonly about: string
  readonly ask: string
  readonly tone: string
  readonly filled?: readonly Filled[]
  readonly effect?: readonly string[]
}

const shownValues = (filled: readonly Filled[]): HTMLElement => {
  const values = Object.assign(document.createElement('dl'), { className: 'filled' })
  for (const { name, value } of filled)
    values.append(
      Object.assign(document.createElement('dt'), { textContent: name }),
      Object.assign(document.createElement('dd'), { textContent: value }),
    )
  return values
}

/** Says what is about to happen, and asks whether it is to. */
export const isConfirmed = ({ title, about, ask, tone, filled = [], effect = [] }: Asked): Promise<boolean> => {
  const dialog = document.createElement('dialog')
  const heading = Object.assign(document.createElement('h2'), { textContent: title, id: 'asked' })
  const record = Object.assign(document.createElement('p'), { textContent: about, className: 'about' })
  const text = Object.assign(document.createElement('p'), { textContent: ask })
  const form = Object.assign(document.createElement('form'), { method: 'dialog' })
  const yes = Object.assign(document.createElement('button'), {
    value: 'yes',
    textContent: title,
    className: tone,
  })
  const no = Object.assign(document.createElement('button'), { value: 'no', textContent: 'Go back' })
  form.append(yes, no)
  const list = document.createElement('ul')
  list.append(...effect.map((line) => Object.assign(document.createElement('li'), { textContent: line })))
  dialog.setAttribute('aria-labelledby', heading.id)
  dialog.append(
    heading,
    record,
    ...(filled.length > 0 ? [shownValues(filled)] : []),
    text,
    ...(effect.length > 0 ? [list] : []),
    form,
  )
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      resolve(dialog.returnValue === 'yes')
      dialog.remove()
    })
  })
}

/** A secret, and its name where there are several. */
export type Secret = { readonly name?: string; readonly value: string }

/** Shows what is said once and never again, until it is put away. */
export const showOnce = (title: string, secrets: readonly Secret[]): Promise<void> => {
  const dialog = document.createElement('dialog')
  const heading = Object.assign(document.createElement('h2'), { textContent: title, id: 'shown' })
  const text = Object.assign(document.createElement('p'), {
    textContent: 'It is shown now and never again. Keep it safe.',
  })
  const shown = secrets.flatMap(({ name, value }) => [
    ...(name === undefined ? [] : [Object.assign(document.createElement('p'), { textContent: name })]),
    Object.assign(document.createElement('code'), { textContent: value, className: 'secret' }),
  ])
  const form = Object.assign(document.createElement('form'), { method: 'dialog' })
  form.append(Object.assign(document.createElement('button'), { textContent: 'I have kept it', className: 'primary' }))
  dialog.setAttribute('aria-labelledby', heading.id)
  dialog.append(heading, text, ...shown, form)
  // Escape would put it away unread.
  dialog.addEventListener('cancel', (event) => event.preventDefault())
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve()
    })
  })
}
