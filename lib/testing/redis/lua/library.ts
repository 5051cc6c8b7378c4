import { lauxlib, lua, luaString, type LuaState, textAt } from './fengari.js';

/** Functions by their names; each returns how many values it has put on the stack. */
export type Library = Readonly<Record<string, (state: LuaState) => number>>;

/** Ends a function with an error, which says where in the script it was called. */
export function raise(state: LuaState, what: string): never {
  lauxlib.luaL_where(state, 1);
  lua.lua_pushstring(state, luaString(textAt(state, -1) + what));
  return lua.lua_error(state);
}

/** Puts functions into a new table of that name. */
export function define(state: LuaState, name: string, library: Library): void {
  lua.lua_createtable(state, 0, 2);
  fill(state, library);
  lua.lua_setglobal(state, luaString(name));
}

/** Puts functions into a table of the globals, which are at the top of the stack. */
export function extend(state: LuaState, name: string, library: Library): void {
  lua.lua_getfield(state, -1, luaString(name));
  fill(state, library);
  lua.lua_pop(state, 1);
}

/** Puts functions into the table at the top of the stack. */
export function fill(state: LuaState, library: Library): void {
  for (const [name, fn] of Object.entries(library)) {
    lua.lua_pushjsfunction(state, fn);
    lua.lua_setfield(state, -2, luaString(name));
  }
}
