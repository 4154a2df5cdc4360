/** The events that a page shows. */
export const eventIds = (): ReadonlySet<string> =>
  new Set([...document.querySelectorAll<HTMLElement>('[data-event]')].map(({ dataset }) => dataset['event'] ?? ''))

/** The events that were not there before, which are marked. */
export const newEvents = (before: ReadonlySet<string>): readonly string[] => {
  const made = [...eventIds()].filter((id) => !before.has(id))
  for (const id of made) document.querySelector(`#event-${CSS.escape(id)}`)?.classList.add('new')
  return made
}

const tries = 8
const betweenMs = 400

/** The new events of a list that follows a moment later, where a page has one. The rest of the page stays. */
export const lateEvents = async (before: ReadonlySet<string>): Promise<readonly string[]> => {
  for (let number = 0; number < tries; number++) {
    const place = document.querySelector('[data-late]')
    if (!place) return []
    await new Promise((resolve) => setTimeout(resolve, betweenMs))
    const response = await fetch(location.href)
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('[data-late]')
    if (response.redirected || !fresh) return []
    place.replaceWith(document.adoptNode(fresh))
    const made = newEvents(before)
    if (made.length > 0) return made
  }
  return []
}

const mostNamed = 3

/** The first of them by their ids. */
export const namesOf = (ids: readonly string[]): string => {
  const named = ids.slice(0, mostNamed).join(', ')
  return `Event ${named}${ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : ''}.`
}
