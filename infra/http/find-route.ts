type Addressed = { readonly method: string; readonly address: string }
type Params = Readonly<Record<string, string>>

/** A route, and what its parameters stand for in the path of a request. */
export type FoundRoute<Route> = { readonly route: Route; readonly params: Params }

/** The routes that share the first steps of their addresses. */
type Place<Route> = {
  readonly literal: Map<string, Place<Route>>
  parameter: Place<Route> | undefined
  /** The routes whose addresses end here, by method. */
  readonly routes: Map<string, Route>
}

const emptyPlace = <Route>(): Place<Route> => ({ literal: new Map(), parameter: undefined, routes: new Map() })

const stepsOf = (path: string): readonly string[] => path.split('/')

/**
 * Finds the route of a path step by step, where Express would try one expression after the other. It finds only what is
 * written exactly as an address has it: what remains (a slash at the end, what cannot be decoded, HEAD) is left to Express.
 */
export const routeFinder = <Route extends Addressed>(routes: readonly Route[]) => {
  const root = emptyPlace<Route>()
  for (const route of routes) {
    let place = root
    for (const step of stepsOf(route.address)) {
      const next = (step.startsWith(':') ? place.parameter : place.literal.get(step)) ?? emptyPlace<Route>()
      if (step.startsWith(':')) place.parameter = next
      else place.literal.set(step, next)
      place = next
    }
    const method = route.method.toUpperCase()
    // As in Express, the first of two counts.
    if (!place.routes.has(method)) place.routes.set(method, route)
  }

  const find = (place: Place<Route>, method: string, steps: readonly string[], at: number): Route | undefined => {
    const step = steps[at]
    if (step === undefined) return place.routes.get(method)
    const literal = place.literal.get(step)
    const found = literal && find(literal, method, steps, at + 1)
    return found ?? (place.parameter && step !== '' ? find(place.parameter, method, steps, at + 1) : undefined)
  }

  return (method: string, path: string): FoundRoute<Route> | undefined => {
    const steps = stepsOf(path)
    const route = find(root, method, steps, 0)
    const params = route && paramsOf(route.address, steps)
    return params && { route, params }
  }
}

/** Undefined when a step cannot be decoded. */
const paramsOf = (address: string, steps: readonly string[]): Params | undefined => {
  const params: Record<string, string> = {}
  if (!address.includes(':')) return params
  try {
    for (const [place, step] of stepsOf(address).entries())
      if (step.startsWith(':')) params[step.slice(1)] = decodeURIComponent(steps[place] ?? '')
    return params
  } catch {
    return undefined
  }
}
