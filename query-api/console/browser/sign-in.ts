import { send, type Sent } from './send.ts'

const say = (form: HTMLFormElement, message: string): void => {
  const place = form.querySelector('.fault')
  if (place) place.textContent = message
}

const whyNot = (sent: Exclude<Sent, { outcome: 'done' }>): string =>
  sent.outcome === 'refused' ? sent.message : 'The service did not answer. Try again in a moment.'

const opens = (): string => document.querySelector<HTMLElement>('main')?.dataset['opens'] ?? '/console'

const signInByKey = async (form: HTMLFormElement): Promise<void> => {
  const key = form.querySelector('input')?.value.trim() ?? ''
  const sent = await send('POST', '/admin/v1/session', { key })
  if (sent.outcome !== 'done') return say(form, whyNot(sent))
  location.assign(opens())
}

const begin = async (form: HTMLFormElement, provider_id: string): Promise<void> => {
  const sent = await send('POST', '/admin/v1/session/provider', { provider_id, opens: opens() })
  if (sent.outcome !== 'done') return say(form, whyNot(sent))
  location.assign(String(sent.data['url']))
}

const showProviders = async (form: HTMLFormElement): Promise<void> => {
  const organisation = form.querySelector('input')?.value.trim() ?? ''
  const asked = organisation === '' ? '' : `?organisation=${encodeURIComponent(organisation)}`
  const response = await fetch(`/admin/v1/session/providers${asked}`).catch(() => undefined)
  if (!response?.ok) return say(form, 'The service did not answer. Try again in a moment.')
  const { data } = (await response.json()) as { data: readonly { id: string; name: string }[] } // our own API's
  const buttons = data.map(({ id, name }) => {
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: `Sign in by ${name}`,
    })
    button.addEventListener('click', () => void begin(form, id))
    const item = document.createElement('li')
    item.append(button)
    return item
  })
  form.querySelector('.providers')?.replaceChildren(...buttons)
  say(form, buttons.length === 0 ? 'No provider is set up under this name. Check it, or sign in with your key.' : '')
}

export const listenForSignIn = (): void => {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-sign-in]'))
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void (form.dataset['signIn'] === 'key' ? signInByKey(form) : showProviders(form))
    })
}

export const listenForSignOut = (): void => {
  document.querySelector('[data-sign-out]')?.addEventListener('click', () => {
    void send('DELETE', '/admin/v1/session').then((sent) => {
      if (sent.outcome === 'done') return location.assign('/console/sign_in')
      const place = document.querySelector('#said')
      if (place) place.textContent = 'You are not signed out: the service did not do it. Try again.'
    })
  })
}
