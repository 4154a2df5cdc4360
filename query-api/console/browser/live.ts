import { signInAgain } from './send.ts'

/** Of what waits, one kind: as `GET …/work` answers, and its events tell. */
type Waiting = {
  readonly work: string
  readonly count: number
  readonly is_more: boolean
  readonly first_id: string | null
}
type Told = { readonly waiting: readonly Waiting[]; readonly read_at: string }

/** A stream that does not begin within that time cannot come through. */
const beginsMs = 10_000
/** Then it is asked for so often. */
const pollMs = 30_000

const showCount = (place: HTMLElement, waiting: readonly Waiting[]): void => {
  const own = waiting.filter(({ work }) => place.dataset['count']?.split(' ').includes(work))
  if (own.length === 0) return
  const sum = own.reduce((total, { count }) => total + count, 0)
  place.textContent = own.some(({ is_more }) => is_more) ? `${sum}+` : String(sum)
  if (place.parentElement) place.parentElement.hidden = sum === 0
}

const showChange = (place: HTMLElement, waiting: readonly Waiting[]): void => {
  const { work, first, counted } = place.dataset
  const now = waiting.find((each) => each.work === work)
  if (!now) return
  const isSame = String(now.count) === counted && (now.first_id ?? '') === first
  if (isSame) place.replaceChildren()
  if (isSame || place.hasChildNodes()) return
  const again = Object.assign(document.createElement('a'), { href: location.href, textContent: 'load it again' })
  place.append('The list has changed: ', again, '.')
}

/** A page has nothing to learn about what it has counted itself from what was counted before. */
const isNews = ({ dataset: { read = '' } }: HTMLElement, read_at: string): boolean => read_at >= read

const show = ({ waiting, read_at }: Told): void => {
  const places = (selector: string) =>
    [...document.querySelectorAll<HTMLElement>(selector)].filter((place) => isNews(place, read_at))
  for (const place of places('[data-count]')) showCount(place, waiting)
  for (const place of places('[data-work]')) showChange(place, waiting)
}

const isSignedOut = (): void => {
  const place = document.querySelector('#said')
  if (!place) return
  const again = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Sign in again' })
  again.addEventListener('click', signInAgain)
  place.replaceChildren('You are signed out. ', again)
}

type Body = { readonly data: Told }

/** Tells what comes, until the stream has failed for good. The browser itself takes up one that was only interrupted. */
const stream = (address: string, tell: (told: Told) => void): Promise<void> =>
  new Promise((resolve) => {
    const source = new EventSource(address)
    const end = () => {
      source.close()
      resolve()
    }
    let late: number | undefined = setTimeout(end, beginsMs)
    source.addEventListener('open', () => {
      clearTimeout(late)
      late = undefined
    })
    source.addEventListener('message', ({ data }: MessageEvent<string>) => {
      tell((JSON.parse(data) as Body).data) // our own API's
    })
    source.addEventListener('error', () => {
      if (source.readyState !== EventSource.CLOSED) late ??= setTimeout(end, beginsMs)
      else {
        clearTimeout(late)
        end()
      }
    })
  })

/** Asks once. True where nothing can come of asking again. */
const poll = async (address: string, tell: (told: Told) => void): Promise<boolean> => {
  const response = await fetch(address, { headers: { accept: 'application/json' } }).catch(() => undefined)
  // Something between may answer in the place of the API.
  const body: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined
  if (body !== undefined) tell((body as Body).data) // our own API's
  if (response?.status === 401) isSignedOut()
  return response !== undefined && [401, 403, 404].includes(response.status)
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })

const follow = async (address: string, tell: (told: Told) => void): Promise<void> => {
  for (;;) {
    await stream(address, tell)
    if (await poll(address, tell)) return
    await pause(pollMs)
  }
}

type Message = { readonly told: Told } | 'tell me'

/**
 * Keeps the numbers of a page true. One tab of a browser has the stream, and tells the others, until it is closed and another takes its
 * place.
 */
export const listenForWork = (): void => {
  const address = document.querySelector<HTMLElement>('nav[data-live]')?.dataset['live']
  // Elsewhere there are no locks.
  if (address === undefined || !isSecureContext) return
  const tabs = new BroadcastChannel(address)
  let latest: Told | undefined
  tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data === 'tell me') {
      if (latest) tabs.postMessage({ told: latest })
    } else show(data.told)
  })
  tabs.postMessage('tell me')
  void navigator.locks.request(address, () =>
    follow(address, (told) => {
      latest = told
      show(told)
      tabs.postMessage({ told })
    }),
  )
}
