/** The slider over the events of a record: each stop has a link, whose address it opens. */

const linksOf = (slider: HTMLInputElement): readonly HTMLAnchorElement[] => [
  ...(slider.closest('.stops')?.querySelectorAll<HTMLAnchorElement>('.moments a') ?? []),
]

const isSlider = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.dataset['stops'] !== undefined

/** Says the stop under the thumb while it is moved, and opens it once it is left there. */
export const listenForMoments = (): void => {
  document.addEventListener('input', ({ target }) => {
    if (!isSlider(target)) return
    const said = linksOf(target)[target.valueAsNumber]?.textContent ?? ''
    target.setAttribute('aria-valuetext', said)
    const output = target.parentElement?.querySelector('output')
    if (output) output.textContent = said
  })
  document.addEventListener('change', ({ target }) => {
    const link = isSlider(target) ? linksOf(target)[target.valueAsNumber] : undefined
    if (link) location.assign(link.href)
  })
  // Whoever moves it with the keyboard goes on from where they were.
  if (location.hash === '#moment') document.querySelector<HTMLInputElement>('#moment')?.focus()
}
