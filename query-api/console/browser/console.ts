import { listenForActs } from './acts.ts'
import { listenForFind } from './find.ts'
import { listenForSignIn, listenForSignOut } from './sign-in.ts'

listenForSignIn()
listenForSignOut()
listenForActs()
listenForFind()
