/** A part of a list of the API. */
type Part = Readonly<Record<string, unknown>> & { readonly next_cursor: string | null }

const mostParts = 500

const say = (message: string): void => {
  const place = document.querySelector('#said')
  if (place) place.textContent = message
}

/** The parts of a list, one after the other. */
const partsOf = async function* (href: string): AsyncGenerator<Part> {
  const url = new URL(href)
  for (let number = 0; number < mostParts; number++) {
    const response = await fetch(url)
    if (!response.ok) throw new Error(`answered ${response.status}`)
    const part = (await response.json()) as Part // our own API's
    yield part
    if (part.next_cursor === null) return
    url.searchParams.set('cursor', part.next_cursor)
  }
  throw new Error('There is too much for one file. Ask for a shorter period.')
}

const save = (name: string, content: object): void => {
  const href = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' }))
  Object.assign(document.createElement('a'), { href, download: name }).click()
  URL.revokeObjectURL(href)
}

/** All parts of a list become one file. */
const download = async ({ href, download: name, textContent }: HTMLAnchorElement): Promise<void> => {
  const whole: Record<string, unknown[]> = {}
  say(`${textContent}: being read.`)
  for await (const part of partsOf(href))
    for (const [key, value] of Object.entries(part))
      if (Array.isArray(value)) whole[key] = [...(whole[key] ?? []), ...(value as readonly unknown[])]
  save(name, whole)
  say(`${textContent}: ${name} was made, with ${whole['data']?.length ?? 0} events.`)
}

export const listenForFiles = (): void => {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element && event.target.closest<HTMLAnchorElement>('a[data-file]')
    if (!link) return
    event.preventDefault()
    download(link).catch((error: unknown) => {
      say(`${link.textContent}: no file was made. ${error instanceof Error ? error.message : ''}`)
    })
  })
}
