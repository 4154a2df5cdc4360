import { send } from './send.ts'

/** A record that fits what was looked for. */
type Found = { readonly href: string; readonly title: string }

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const policyNumber = /^[a-z]+-?\d[\d-]*$/i
/** Names are many people's: with the date of birth. */
const named = /^(\S+) (.+) (\d{4}-\d\d-\d\d)$/
/** The last eight digits of an id, as a customer is told them. */
const reference = /^[\da-f]{4}-?[\da-f]{4}$/i

/** The pages of the organisation that somebody may open, by the links that they have. */
const areas = (): readonly { readonly href: string; readonly title: string }[] =>
  [...document.querySelectorAll<HTMLAnchorElement>('nav[data-organisation] a')].map(({ pathname, textContent }) => ({
    href: pathname,
    title: textContent,
  }))

const organisation = (): string =>
  document.querySelector<HTMLElement>('nav[data-organisation]')?.dataset['organisation'] ?? ''

const byId = async (id: string): Promise<readonly Found[]> => {
  const asked = areas().map(async ({ href: area, title }) => {
    const href = `${area.replace(/\/history$/, '/history/events')}/${id.toLowerCase()}`
    const response = await fetch(href, { method: 'HEAD', redirect: 'manual' })
    return response.ok ? [{ href, title: `${title}: ${id}` }] : []
  })
  return (await Promise.all([...asked, byQuote(id)])).flat()
}

/** A quote is a page of its application. */
const byQuote = async (id: string): Promise<readonly Found[]> => {
  const response = await fetch(`/admin/v1/quotes/${id.toLowerCase()}/record?organisation_id=${organisation()}`)
  if (!response.ok) return []
  const { data } = (await response.json()) as { data: { application_id: string } } // our own API's
  const application = `/console/organisations/${organisation()}/applications/${data.application_id}`
  return [{ href: `${application}/quotes/${id.toLowerCase()}`, title: `Quote ${id}` }]
}

const byPolicyNumber = async (number: string): Promise<readonly Found[]> => {
  const query = new URLSearchParams({ organisation_id: organisation(), policy_number: number.toUpperCase() })
  const response = await fetch(`/admin/v1/policies?${query.toString()}`)
  if (!response.ok) return []
  const { data } = (await response.json()) as { data: readonly { id: string; policy_number: string }[] } // our own API's
  return data.map(({ id, policy_number }) => ({
    href: `/console/organisations/${organisation()}/policies/${id}`,
    title: `Policy ${policy_number}`,
  }))
}

const byReference = async (given: string): Promise<readonly Found[]> => {
  const digits = given.replace('-', '').toLowerCase()
  const query = new URLSearchParams({ organisation_id: organisation(), reference: digits })
  const response = await fetch(`/admin/v1/team_applications?${query.toString()}`)
  if (!response.ok) return []
  const { data } = (await response.json()) as { data: readonly { id: string }[] } // our own API's
  return data.map(({ id }) => ({
    href: `/console/organisations/${organisation()}/applications/${id}`,
    title: `Application ${id}`,
  }))
}

/** The words that are looked for stand in the body: in no address, and in no log. */
const byPerson = async (sought: object): Promise<readonly Found[]> => {
  const sent = await send('POST', `/admin/v1/organisations/${organisation()}/people/search`, sought)
  if (sent.outcome !== 'done') return []
  const people = sent.data as unknown as readonly {
    person_id: string
    first_name: string | null
    last_name: string | null
  }[]
  return people.map(({ person_id, first_name, last_name }) => ({
    href: `/console/organisations/${organisation()}/leads/${person_id}`,
    title: [first_name, last_name].filter(Boolean).join(' ') || person_id,
  }))
}

const find = async (term: string): Promise<readonly Found[]> => {
  if (uuid.test(term)) return byId(term)
  const isReference = reference.test(term)
  const isPolicyNumber = policyNumber.test(term)
  if (isReference || isPolicyNumber) {
    const asked = [...(isReference ? [byReference(term)] : []), ...(isPolicyNumber ? [byPolicyNumber(term)] : [])]
    return (await Promise.all(asked)).flat()
  }
  if (term.includes('@')) return byPerson({ email: term })
  const [, first_name, last_name, dob] = named.exec(term) ?? []
  if (dob !== undefined) return byPerson({ first_name, last_name, dob })
  if (/^\+\d/.test(term)) return byPerson({ phone_number: term.replaceAll(/[^+\d]/g, '') })
  return areas().filter(({ title }) => title.toLowerCase().startsWith(term.toLowerCase()))
}

const show = (list: HTMLElement, found: readonly Found[]): void => {
  const items = found.map(({ href, title }) => {
    const item = document.createElement('li')
    item.append(Object.assign(document.createElement('a'), { href, textContent: title }))
    return item
  })
  if (items.length === 0)
    items.push(Object.assign(document.createElement('li'), { textContent: 'Nothing was found that you may see.' }))
  list.replaceChildren(...items)
}

/** The box in which a record is found by any of its numbers. */
const openBox = (): void => {
  if (organisation() === '' || document.querySelector('dialog[open]')) return
  const dialog = document.createElement('dialog')
  dialog.className = 'find'
  dialog.setAttribute('aria-label', 'Find')
  const form = document.createElement('form')
  const label = Object.assign(document.createElement('label'), {
    htmlFor: 'find',
    textContent: 'A number, reference, id, email, telephone number (+44…), or name and date of birth',
  })
  const input = Object.assign(document.createElement('input'), {
    id: 'find',
    type: 'text',
    autocomplete: 'off',
    required: true,
  })
  const list = Object.assign(document.createElement('ul'), { role: 'status' })
  form.append(label, input)
  dialog.append(form, list)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void find(input.value.trim()).then((found) => {
      if (found.length === 1 && found[0]) location.assign(found[0].href)
      else show(list, found)
    })
  })
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select')

/** `/`, Ctrl-K and the button open it. */
export const listenForFind = (): void => {
  document.querySelector('[data-find]')?.addEventListener('click', openBox)
  document.addEventListener('keydown', (event) => {
    const isAsked =
      (event.key === '/' && !isTyping(event.target)) || (event.key === 'k' && (event.ctrlKey || event.metaKey))
    if (!isAsked) return
    event.preventDefault()
    openBox()
  })
}
